package github

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// longestComment keeps a comment below the limit of GitHub, 65,536 characters.
const longestComment = 60_000

// measure says how much of a question a comment shows. The action is never cut: if it does not fit, the comment only
// links to the question.
type measure struct {
	body, context, description int
	// all is false if the options and the action are only on the question's page.
	all bool
}

// measures are tried in order until a comment fits.
var measures = []measure{
	{body: 20_000, context: 10_000, description: 2_000, all: true},
	{body: 2_000, context: 1_000, description: 300, all: true},
	{body: 500, description: 60, all: true},
	{body: 500},
}

// renderComment returns the comment for a notice, with its mark. A question is shown with its current state.
func renderComment(n *notice.Notice, greeting string) string {
	if n.Question == nil {
		return renderOther(n)
	}
	var text string
	for _, m := range measures {
		if text = renderQuestion(n, greeting, m); utf8.RuneCountInString(text) <= longestComment {
			break
		}
	}
	return text
}

func renderQuestion(n *notice.Notice, greeting string, m measure) string {
	q := n.Question
	b := &commentBuilder{}
	b.add("### %s %s", heading(n), phrase(q.Title))
	if n.Outcome != nil {
		b.add("**Closed:** %s.", escapeVisible(n.Outcome.Words))
	} else if greeting != "" {
		b.add("%s", greeting)
	}
	if q.Body != "" {
		b.add("%s", block(shorten(q.Body, m.body)))
	}
	if q.Context != nil && m.context > 0 {
		b.addContext(q.Context, m.context)
	}
	whole := m.all
	if len(q.Action) > 0 && m.all {
		// Escaping does not make the action longer, because it is written as code. The limit leaves room for the rest
		// of the comment.
		parts, tooLong := notice.BoundedActionParts(q, longestComment/2)
		whole = tooLong == ""
		for _, part := range parts {
			language := "json"
			if part.Command {
				language = "sh"
			}
			b.add("%s:", part.Head)
			b.add("%s", fence(language, part.Text))
		}
		switch {
		case !whole:
			b.add("What will run is %s.", tooLong)
		case q.ActionHash != "":
			b.add("<sub>sha256 %s</sub>", code(q.ActionHash))
		}
	}
	if m.all {
		b.addItems(q, m.description)
	}
	state := stateClosed
	if n.Outcome == nil {
		state = b.explainAnswering(n, whole)
	}
	b.addFooter(n)
	found := mark{delivery: n.Delivery, question: q.ID, state: state, words: wordsOf(q)}
	found.undecided = n.Outcome != nil && n.Outcome.Status != fermata.Answered
	if state == stateOpen {
		found.action = q.ActionHash
	}
	b.add("%s", found)
	return b.String()
}

// commentBuilder is a comment that is being written: parts with an empty line between them.
type commentBuilder struct{ parts []string }

func (b *commentBuilder) add(format string, args ...any) {
	b.parts = append(b.parts, fmt.Sprintf(format, args...))
}

// String returns the comment.
func (b *commentBuilder) String() string { return strings.Join(b.parts, "\n\n") }

func heading(n *notice.Notice) string {
	head := map[fermata.QuestionType]string{
		fermata.Approval: "Approval", fermata.ErrorRecovery: "Error", fermata.NonBlocking: "Question (no hurry)",
	}[n.Question.Type]
	if head == "" {
		head = "Question"
	}
	if n.Question.Risk == fermata.RiskHigh || n.Question.Risk == fermata.RiskCritical {
		head += ", " + string(n.Question.Risk) + " risk"
	}
	switch n.Purpose {
	case notice.Reminder:
		head = "Reminder: " + strings.ToLower(head)
	case notice.Escalated:
		head = "Escalated: " + strings.ToLower(head)
	default:
	}
	return head + ":"
}

// addContext shows the context that the asker gave. A notice for a public place contains only context that may be public.
func (b *commentBuilder) addContext(c *fermata.QuestionContext, maxChars int) {
	if c.Text != "" {
		b.add("Context:")
		b.add("%s", fence("text", notice.Clean(shorten(c.Text, maxChars))))
	}
	if c.Step != "" {
		b.add("Step: %s", phrase(c.Step))
	}
	if c.Error != "" {
		b.add("Error:")
		b.add("%s", fence("text", notice.Clean(shorten(c.Error, maxChars))))
	}
	if c.Preview != nil {
		info := map[string]string{"diff": "diff", "json": "json"}[c.Preview.Kind]
		if info == "" {
			info = "text"
		}
		b.add("Preview:")
		b.add("%s", fence(info, notice.CleanStrictly(shorten(c.Preview.Text, maxChars))))
	}
}

// addItems lists the prompts and the options.
func (b *commentBuilder) addItems(q *fermata.Question, description int) {
	for i := range q.Items {
		it := &q.Items[i]
		switch {
		case len(q.Items) > 1:
			b.add("**%s** – %s", phrase(it.Key), prompt(it.Prompt))
		case it.Prompt != q.Title:
			b.add("%s", promptAtLineStart(it.Prompt))
		}
		if len(it.Options) > 0 {
			b.add("%s", options(it, description))
		}
	}
}

// prompt writes a prompt of one line within its line, and quotes a longer one.
func prompt(text string) string {
	if strings.Contains(strings.TrimSpace(text), "\n") {
		return "\n\n" + block(text)
	}
	return phrase(text)
}

// promptAtLineStart writes a prompt at the beginning of a line, where a sign or a number could start a list or a rule. It writes
// such a prompt as code.
func promptAtLineStart(text string) string {
	if first := []rune(strings.TrimSpace(text)); len(first) > 0 && !unicode.IsLetter(first[0]) && !strings.Contains(string(first), "\n") {
		return code(string(first))
	}
	return prompt(text)
}

func options(it *fermata.Item, description int) string {
	var lines []string
	for i, m := range notice.Marks(it) {
		o := it.Options[i]
		line := fmt.Sprintf("- **%s** · %s", strings.ReplaceAll(m, "#", `\#`), phrase(o.Text()))
		if o.Label != "" && o.Label != o.Value {
			line += " (" + code(o.Value) + ")"
		}
		if o.Recommended {
			line += " – *recommended*"
		}
		if o.Danger {
			line += " – *dangerous*"
		}
		if o.Description != "" {
			line += " – " + phrase(fermata.Truncate(o.Description, description))
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// explainAnswering says how to answer and until when, and returns the state of the comment.
func (b *commentBuilder) explainAnswering(n *notice.Notice, whole bool) string {
	state := stateOpen
	if n.Decide && whole {
		b.add("**To answer**, write a comment here that begins with %s.", describeBeginning(n.Question))
		if sample := explainItems(n.Question); sample != "" {
			b.add("%s", sample)
		}
		b.add("Only the comment as it is first written counts, and only from people with write access.")
	} else {
		state = statePage
		b.add("**This question is answered on its page**, not by a comment.")
	}
	deadline := "It waits until somebody answers."
	if q := n.Question; q.Deadline != nil {
		// Readers of an issue live in different time zones.
		deadline = fmt.Sprintf("Answer until **%s**; then %s.", q.Deadline.UTC().Format("Mon 2 Jan 2006, 15:04 UTC"), escapeVisible(notice.DeadlineEffect(q)))
	}
	b.add("%s", deadline)
	if voteText := votes(n.Question); voteText != "" {
		b.add("%s", voteText)
	}
	return state
}

// describeBeginning says how an answer must begin.
func describeBeginning(q *fermata.Question) string {
	if len(q.Items) != 1 {
		return "`/answer`, and has one line for each of its parts"
	}
	it := &q.Items[0]
	switch it.ResponseType {
	case fermata.ResponseChoice, fermata.ResponseMultiChoice:
		text := oneOf(notice.Marks(it)) + ", or the value"
		if it.ResponseType == fermata.ResponseMultiChoice {
			text += " – several with commas between them"
		}
		if it.TakesOther() {
			text += ", or with `other: your text`"
		}
		return text + "; a comment can follow behind a colon"
	case fermata.ResponseBoolean:
		return "`yes` or `no`"
	case fermata.ResponseApproval:
		return "`approve`, or `reject: the reason`"
	case fermata.ResponseNumber:
		return "the number, or `/answer` and the number"
	case fermata.ResponseDate:
		return "the date, such as `2027-01-31`"
	default:
		return "`/answer` and your text"
	}
}

// oneOf lists marks. If there are many, it names only the first and the last.
func oneOf(marks []string) string {
	spans := make([]string, len(marks))
	for i := range marks {
		spans[i] = span(marks[i])
	}
	switch last := len(spans) - 1; {
	case last == 0:
		return spans[0]
	case last > 5:
		return "one of " + spans[0] + " to " + spans[last]
	default:
		return strings.Join(spans[:last], ", ") + " or " + spans[last]
	}
}

// explainItems shows how to answer several items in one comment.
func explainItems(q *fermata.Question) string {
	if len(q.Items) == 1 {
		return ""
	}
	lines := []string{"/answer"}
	for i := range q.Items {
		it := &q.Items[i]
		sample := "your text"
		switch marks := notice.Marks(it); {
		case len(marks) > 0:
			sample = marks[0]
		case it.ResponseType == fermata.ResponseBoolean:
			sample = "yes"
		case it.ResponseType == fermata.ResponseNumber:
			sample = "5"
		case it.ResponseType == fermata.ResponseDate:
			sample = "2027-01-31"
		case it.ResponseType == fermata.ResponseApproval:
			sample = fermata.Approve
		}
		lines = append(lines, it.Key+": "+sample)
	}
	return fence("text", notice.Clean(strings.Join(lines, "\n")))
}

// votes lists the votes so far, if several people must approve.
func votes(q *fermata.Question) string {
	if q.Approvals == nil || q.Approvals.Required < 2 {
		return ""
	}
	text := fmt.Sprintf("%d people must approve; %s.", q.Approvals.Required, notice.Votes(q))
	for _, v := range q.Votes {
		text += fmt.Sprintf(" %s: %s.", phrase(v.By.Name), phrase(v.Value))
	}
	return text
}

// addFooter says which task, project and asker the question belongs to. It links to the page that needs a sign-in, not
// to the address that answers without one, because other people can read the comment.
func (b *commentBuilder) addFooter(n *notice.Notice) {
	q := n.Question
	if link := address(n.Open); link != "" {
		b.add("[Open the question](%s)", link)
	}
	text := "Asked by " + phrase(q.AskedBy.Name)
	if q.AskedBy.Name == "" {
		text = "Asked by the " + string(q.AskedBy.Kind)
	}
	if n.TaskTitle != "" && n.TaskTitle != q.Title {
		text += " for " + phrase(n.TaskTitle)
	}
	if n.Project != "" {
		text += " in " + phrase(n.Project)
	}
	if q.RunID != "" {
		text += " · run " + code(q.RunID)
	}
	b.add("<sub>%s · question %s</sub>", text, code(q.ID))
}

// address returns the link, or "" if the link has a character that could end the text around it.
func address(link string) string {
	if !strings.HasPrefix(link, "https://") && !strings.HasPrefix(link, "http://") || strings.ContainsAny(link, " <>()[]\"\\`\n\r\t") {
		return ""
	}
	return link
}

// renderOther writes a notice without a question: a digest, an alert, a test.
func renderOther(n *notice.Notice) string {
	s := &commentBuilder{}
	s.add("### %s", phrase(fermata.Truncate(n.Title, 200)))
	if n.Body != "" {
		s.add("%s", block(shorten(n.Body, 20_000)))
	}
	var list []string
	for _, q := range n.Questions {
		line := fmt.Sprintf("- %s · %s", code(q.ID), phrase(q.Title))
		for _, fact := range append(notice.TaskAndProject(q), notice.Facts(q)...) {
			line += " · " + phrase(fermata.Truncate(fact, 62))
		}
		list = append(list, line)
	}
	if len(list) > 0 {
		s.add("%s", strings.Join(list[:min(len(list), 100)], "\n"))
	}
	if link := address(n.Open); link != "" {
		s.add("[Open Fermata](%s)", link)
	}
	s.add("%s", mark{delivery: n.Delivery, note: string(n.Purpose)})
	return s.String()
}

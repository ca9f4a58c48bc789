package notice

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
)

// LongestText is how many characters of an action, and of all context, a plain
// text message shows.
const LongestText = 10_000

// bar begins every line that Fermata did not write, so that no such line can
// pass for one of Fermata's.
const bar = "│ "

// Text writes a message as plain text: the question, the facts that help to
// answer it, how to answer, and until when. Text of agents follows a bar, and
// its hidden characters are made visible.
func Text(n *Notice) string {
	q := n.Question
	if q == nil {
		return textWithoutQuestion(n)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", Headline(n))
	if n.Outcome != nil {
		fmt.Fprintf(&b, "\n%s.\n", upperFirst(n.Outcome.Words))
	}
	fmt.Fprintf(&b, "\nAsked by %s%s.\n", actorName(q.AskedBy), taskAndProjectPhrase(n)+factsSuffix(q))
	writeQuoted(&b, "", q.Body)
	if c := q.Context; c != nil {
		writeQuoted(&b, "Context:", c.Text)
		writeQuoted(&b, "Step:", c.Step)
		writeQuoted(&b, "Error:", c.Error)
		if c.Preview != nil {
			writeQuoted(&b, "Preview ("+OneLine(c.Preview.Kind)+"):", c.Preview.Text)
		}
	}
	if len(q.Action) > 0 {
		writeAction(&b, q)
	}
	if options := Options(q); options != "" {
		fmt.Fprintf(&b, "\n%s\n", options)
	}
	if n.Outcome == nil {
		writeHowToAnswer(&b, n)
	}
	if n.Open != "" {
		fmt.Fprintf(&b, "\nOpen: %s\n", n.Open)
	}
	return b.String()
}

func writeAction(b *strings.Builder, q *fermata.Question) {
	parts, tooLong := BoundedActionParts(q, LongestText)
	if tooLong != "" {
		fmt.Fprintf(b, "\n%s: %s\n", headRuns, tooLong)
		return
	}
	b.WriteString("\n")
	for _, part := range parts {
		fmt.Fprintf(b, "%s:\n%s\n", part.Head, addBars(part.Text))
	}
	fmt.Fprintf(b, "sha256 %s\n", OneLine(q.ActionHash))
}

func writeHowToAnswer(b *strings.Builder, n *Notice) {
	fmt.Fprintf(b, "\n%s\n", Deadline(n))
	if n.Decide {
		fmt.Fprintf(b, "\n%s\n", HowToAnswer(n.Question))
	}
	if n.Answer != "" {
		fmt.Fprintf(b, "\nAnswer: %s\n", n.Answer)
	}
}

func textWithoutQuestion(n *Notice) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", OneLine(n.Title))
	writeQuoted(&b, "", n.Body)
	for _, q := range n.Questions {
		fmt.Fprintf(&b, "\n- %s\n  %s\n  %s\n", OneLine(q.Title), digestLine(q), Deadline(&Notice{Question: q, To: n.To}))
	}
	if n.Open != "" {
		fmt.Fprintf(&b, "\nOpen: %s\n", n.Open)
	}
	return b.String()
}

// factsSuffix returns the facts of a question, to follow the words that name it.
func factsSuffix(q *fermata.Question) string {
	if facts := Facts(q); len(facts) > 0 {
		return ": " + strings.Join(facts, ", ")
	}
	return ""
}

// taskAndProjectPhrase names the task and the project of a question.
func taskAndProjectPhrase(n *Notice) string {
	phrase := ""
	if n.TaskTitle != "" {
		phrase += " for the task " + quoteText(OneLine(n.TaskTitle), 120)
	}
	if n.Project != "" {
		phrase += " in " + OneLine(n.Project)
	}
	return phrase
}

// writeQuoted writes the text of a person or an agent behind a bar, below a
// head.
func writeQuoted(b *strings.Builder, head, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if head != "" {
		head = "\n" + head
	}
	text = strings.Trim(text, "\n")
	fmt.Fprintf(b, "%s\n%s\n", head, addBars(Clean(shorten(text, LongestText))))
	if utf8.RuneCountInString(text) > LongestText {
		b.WriteString("(cut here; open the question to read on)\n")
	}
}

func addBars(text string) string {
	return bar + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+bar)
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Headline returns one line with the subject and the kind of a question.
func Headline(n *Notice) string {
	if n.Question == nil {
		return shorten(OneLine(n.Title), 200)
	}
	q := n.Question
	head := map[fermata.QuestionType]string{
		fermata.Approval: "Approval", fermata.ErrorRecovery: "Error", fermata.NonBlocking: "Question, no hurry",
	}[q.Type]
	if head == "" {
		head = "Question"
	}
	switch n.Purpose {
	case Reminder:
		head = "Reminder: " + strings.ToLower(head)
	case Escalated:
		head = "Escalated: " + strings.ToLower(head)
	default:
	}
	if q.Risk == fermata.RiskHigh || q.Risk == fermata.RiskCritical {
		head += ", " + string(q.Risk) + " risk"
	}
	return head + ": " + shorten(OneLine(q.Title), fermata.MaxTitle)
}

// ShortText returns the text that a lock screen shows below the [Headline] of a
// message: one line, without context.
func ShortText(n *Notice) string {
	switch {
	case n.Question == nil:
		return shorten(OneLine(n.Body), 160)
	case n.Outcome != nil:
		return shorten(upperFirst(n.Outcome.Words), 160)
	}
	q := n.Question
	summary := "From " + actorName(q.AskedBy)
	if n.TaskTitle != "" {
		summary += ", " + quoteText(OneLine(n.TaskTitle), 60)
	}
	if votes := Votes(q); votes != "" {
		summary += ", " + votes
	}
	if q.Deadline != nil {
		summary += ", until " + formatInstant(*q.Deadline, n.To.Zone, n.At)
	}
	return shorten(summary, 160)
}

// Options lists the options, one on a line: what to type, what it is, and
// whether it is recommended or dangerous. The description follows below it. It
// also gives the default of each item, and the prompt if there are several
// items or the prompt is not the title. It is empty if there is nothing to
// list.
func Options(q *fermata.Question) string {
	var b strings.Builder
	for i := range q.Items {
		it := &q.Items[i]
		if len(q.Items) > 1 || it.Prompt != q.Title {
			head := OneLine(it.Prompt)
			if len(q.Items) > 1 {
				head = it.Key + ": " + head
			}
			fmt.Fprintf(&b, "%s\n", head)
		}
		for j, mark := range Marks(it) {
			fmt.Fprintf(&b, "%s\n", optionLine(mark, it.Options[j]))
			if d := it.Options[j].Description; d != "" {
				fmt.Fprintf(&b, "   %s\n", OneLine(d))
			}
		}
		if it.Default != nil {
			fmt.Fprintf(&b, "Default: %s\n", shorten(OneLine(valueWords(it, it.Default)), longestAnswer))
		}
		if len(q.Items) > 1 && i < len(q.Items)-1 {
			b.WriteString("\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

func optionLine(mark string, o fermata.Option) string {
	line := mark + ") " + OneLine(o.Text())
	if o.Recommended {
		line += " (recommended)"
	}
	if o.Danger {
		line += " (dangerous)"
	}
	return line
}

// Deadline says until when an answer is awaited, in the recipient's time zone,
// and what happens then.
func Deadline(n *Notice) string {
	q := n.Question
	if q.Deadline == nil {
		return "It waits until somebody answers."
	}
	return fmt.Sprintf("Answer until %s; then %s.", formatInstant(*q.Deadline, n.To.Zone, n.At), DeadlineEffect(q))
}

// formatInstant writes an instant in a time zone. It leaves the date out if the instant
// is on the same day as now.
func formatInstant(t time.Time, zone string, now time.Time) string {
	loc, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" {
		loc = time.UTC
	}
	t = t.In(loc)
	if !now.IsZero() && t.Format(time.DateOnly) == now.In(loc).Format(time.DateOnly) {
		return t.Format("15:04 MST")
	}
	return t.Format("Mon 2 Jan 2006 15:04 MST")
}

// DeadlineEffect says what happens if nobody answers.
func DeadlineEffect(q *fermata.Question) string {
	action := q.OnTimeout
	if q.EscalationLevel > 0 && q.EscalationLevel <= len(q.Escalation) {
		action = q.Escalation[q.EscalationLevel-1].OnTimeout
	}
	switch action {
	case fermata.TakeDefault:
		answers, _ := q.Defaults()
		return "the default is taken: " + AnswerWords(q, answers)
	case fermata.SkipTask:
		return "the task is skipped"
	case fermata.Escalate:
		if q.EscalationLevel < len(q.Escalation) {
			return "it goes on to " + OneLine(strings.Join(q.Escalation[q.EscalationLevel].Assignees, ", "))
		}
		return "it goes on to the next level"
	default:
		if q.Type == fermata.Approval {
			return "it counts as not approved and the task fails"
		}
		return "the task fails"
	}
}

package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
	"github.com/fermata-hq/fermata/internal/notice"
)

// PrintQuestion writes a whole question: the items, its context, the action, and
// what happens at the deadline.
func PrintQuestion(p terminal.Printer, q *fermata.Question, now time.Time) {
	if !p.IsTerm {
		printWholeQuestion(p, q, now)
		return
	}
	var buf bytes.Buffer
	inner := p
	inner.Out = &buf
	printWholeQuestion(inner, q, now)
	for _, line := range terminal.WrapLines(strings.Split(strings.TrimRight(buf.String(), "\n"), "\n"), p.Width) {
		p.Line("%s", line)
	}
}

func printWholeQuestion(p terminal.Printer, q *fermata.Question, now time.Time) {
	p.PrintTitle(q.Title)
	facts := []string{string(q.Type), string(q.Status), "risk " + string(q.Risk), "asked by " + ActorName(q.AskedBy) + " " + terminal.FormatDuration(now.Sub(q.CreatedAt)) + " ago"}
	if q.AskCount > 1 {
		facts = append(facts, fmt.Sprintf("asked %d times", q.AskCount))
	}
	p.Line("%s", p.Dim(strings.Join(facts, " · ")))
	printQuestionFacts(p, q)
	if q.Body != "" {
		p.Line("")
		p.PrintQuoted("", q.Body)
	}
	printContext(p, q.Context)
	PrintAction(p, "What will run", q.Action, q.ActionHash)
	printItems(p, q)
	p.Line("")
	printEnding(p, q, now)
}

// printQuestionFacts writes the id, the task and the project of a question, and its
// votes.
func printQuestionFacts(p terminal.Printer, q *fermata.Question) {
	task := "task " + terminal.ShortID(q.TaskID)
	if title := notice.TaskTitle(q); title != "" {
		task += " “" + fermata.Truncate(title, 60) + "”"
	}
	facts := []string{q.ID, task, "project " + terminal.OneLine(q.Project)}
	if votes := notice.Votes(q); votes != "" {
		facts = append(facts, votes)
	}
	p.Line("%s", p.Dim(strings.Join(facts, " · ")))
}

// printContext writes the context of a question.
func printContext(p terminal.Printer, c *fermata.QuestionContext) {
	if c == nil {
		return
	}
	if c.Text != "" {
		p.Line("")
		p.PrintBarred(terminal.Clean(c.Text))
	}
	if c.Step != "" {
		p.Line("")
		p.PrintLabelled("Step:", c.Step)
	}
	if c.Error != "" {
		p.Line("")
		p.Line("%s", p.Red("Error"))
		p.PrintBarred(terminal.Clean(c.Error))
	}
	if c.Preview != nil {
		p.Line("")
		p.Line("Preview (%s)", terminal.OneLine(c.Preview.Kind))
		p.PrintBarred(terminal.Clean(c.Preview.Text))
	}
}

// PrintAction writes the complete action that a person consents to. It hides
// nothing. It writes a command as it was typed, or on demand the exact bytes.
func PrintAction(p terminal.Printer, head string, action json.RawMessage, hash string) {
	if len(action) == 0 {
		return
	}
	p.Line("")
	p.Line("%s", p.Bold(head))
	if p.ExactBytes {
		p.PrintBarred(terminal.CleanStrictly(string(action)))
	} else {
		for i, part := range notice.ActionParts(action) {
			if i > 0 {
				p.Line("%s", p.Bold(part.Head))
			}
			p.PrintBarred(part.Text)
		}
	}
	p.Line("%s", p.Dim("  sha256 "+terminal.OneLine(hash)))
}

// IndentJSON returns an action with indentation. It changes only the space
// between values, never the values.
func IndentJSON(action json.RawMessage) string {
	var indented bytes.Buffer
	if json.Indent(&indented, action, "", "  ") == nil {
		return indented.String()
	}
	return string(action)
}

func printItems(p terminal.Printer, q *fermata.Question) {
	for i := range q.Items {
		it := &q.Items[i]
		if len(q.Items) == 1 && it.Prompt == q.Title {
			if len(it.Options) > 0 {
				p.Line("")
			}
			printOptions(p, it, "  ")
			continue
		}
		p.Line("")
		head := terminal.OneLine(it.Header)
		if head != "" {
			head += ":"
		}
		if len(q.Items) > 1 {
			head = strings.TrimSpace(fmt.Sprintf("[%s] %s", terminal.OneLine(it.Key), head))
		}
		p.PrintLabelled(head, it.Prompt)
		printOptions(p, it, "  ")
	}
}

// printOptions writes the options of an item, each with the number that selects it if it can be selected by number.
func printOptions(p terminal.Printer, it *fermata.Item, indent string) {
	for i, o := range it.Options {
		mark := "-"
		if notice.CanPickByNumber(it) {
			mark = fmt.Sprintf("%d", i+1)
		}
		line := mark + "  " + terminal.OneLine(o.Text())
		if o.Label != "" && o.Label != o.Value {
			line += p.Dim(" (" + terminal.OneLine(o.Value) + ")")
		}
		if o.Recommended {
			line += p.Green("  ★ recommended")
		}
		if o.Danger {
			line += p.Red("  ⚠ danger")
		}
		printOption(p, indent, strings.Repeat(" ", len(mark)+2), line)
		p.PrintQuoted(indent+strings.Repeat(" ", len(mark)), o.Description)
	}
	var notes []string
	if it.ResponseType == fermata.ResponseMultiChoice {
		notes = append(notes, "several, with commas between them")
	}
	if it.TakesOther() {
		notes = append(notes, "or an answer of your own")
	}
	if !it.IsRequired() {
		notes = append(notes, "may be left out")
	}
	if it.Default != nil {
		notes = append(notes, "default: "+terminal.OneLine(ValueText(it.Default)))
	}
	if len(notes) > 0 {
		p.Line("%s%s", indent, p.Dim(strings.Join(notes, "; ")))
	}
}

// printOption writes the line of an option. A long line continues behind a bar.
func printOption(p terminal.Printer, indent, deeper, line string) {
	parts := []string{line}
	if p.IsTerm {
		parts = strings.Split(ansi.Hardwrap(line, max(p.Width-len(indent)-len(deeper)-ansi.StringWidth(terminal.BarContinued), 16), true), "\n")
	}
	for i, part := range parts {
		if i > 0 {
			part = deeper + strings.TrimLeft(terminal.BarContinued, " ") + part
		}
		p.Line("%s%s", indent, part)
	}
}

// printEnding writes how the question ended, or what happens if nobody answers.
func printEnding(p terminal.Printer, q *fermata.Question, now time.Time) {
	for _, v := range q.Votes {
		p.PrintLabelled(fmt.Sprintf("%s voted %s.", ActorName(v.By), v.Value), v.Comment)
	}
	if q.Resolution != nil {
		printResolution(p, q.Resolution)
		return
	}
	if h := q.HeldAnswer; h != nil {
		p.PrintText(fmt.Sprintf("%s answered %s; it counts from %s on, unless it is taken back.",
			ActorName(h.By), terminal.OneLine(ValuesText(h.Answers)), h.ReleaseAt.UTC().Format("15:04:05 MST")))
		printComment(p, h.Comment)
		return
	}
	if q.Approvals != nil && q.Approvals.Required > 1 {
		p.Line("%d people must approve.", q.Approvals.Required)
	}
	if len(q.Assignees) > 0 {
		p.PrintText("For " + strings.Join(q.Assignees, ", ") + ".")
	}
	if q.UnreachedReason != "" && q.Status == fermata.Pending {
		p.PrintText("Nobody is notified of the question; it is only in the inbox: " + terminal.OneLine(q.UnreachedReason) + ".")
	}
	if q.Deadline == nil {
		p.Line("It waits until somebody answers.")
		return
	}
	timeLeft := "The deadline has passed"
	if d := q.Deadline.Sub(now); d > 0 {
		timeLeft = terminal.FormatDuration(d) + " left (until " + q.Deadline.UTC().Format("2006-01-02 15:04:05 MST") + ")"
	}
	p.PrintText(timeLeft + "; then " + notice.DeadlineEffect(q) + ".")
}

func printResolution(p terminal.Printer, r *fermata.Resolution) {
	printSentence(p, r)
	printComment(p, r.Comment)
	PrintAction(p, "Approved with edits; only this may run", r.Action, r.ActionHash)
	if h := r.OvertakenAnswer; h != nil {
		p.PrintLabelled(fmt.Sprintf("%s could still undo this answer at that time, so it did not count:", ActorName(h.By)), ValuesText(h.Answers))
		printComment(p, h.Comment)
	}
	for _, late := range r.LateAnswers {
		p.PrintLabelled(fmt.Sprintf("After the deadline %s answered:", ActorName(late.By)), ValuesText(late.Answers))
		printComment(p, late.Comment)
	}
}

// printComment writes a person's comment on the answer.
func printComment(p terminal.Printer, text string) {
	if text != "" {
		p.PrintLabelled("Comment:", text)
	}
}

// printSentence writes how a question ended. A long answer of a person stands behind
// a bar.
func printSentence(p terminal.Printer, r *fermata.Resolution) {
	sentence := r.Sentence()
	answer := r.AnswerText()
	if head, ok := strings.CutSuffix(sentence, ": "+answer); ok && answer != "" {
		p.PrintLabelled(strings.ToUpper(head[:1])+terminal.OneLine(head[1:])+":", answer)
		return
	}
	p.PrintText(strings.ToUpper(sentence[:1]) + sentence[1:] + ".")
}

// ActorName returns the name of an actor, or the kind if there is no name.
func ActorName(a fermata.Actor) string {
	if a.Name == "" {
		return string(a.Kind)
	}
	return terminal.OneLine(a.Name)
}

// ValueText returns the value of an answer as people read it.
func ValueText(v any) string { return (&fermata.Resolution{Answer: v}).AnswerText() }

// ValuesText returns the values of items as people read them. It leaves out the
// key of a single item.
func ValuesText(values map[string]any) string {
	if len(values) == 1 {
		for _, v := range values {
			return ValueText(v)
		}
	}
	return (&fermata.Resolution{Answers: values}).AnswerText()
}

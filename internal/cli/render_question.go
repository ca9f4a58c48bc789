package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// printQuestion writes a whole question: the items, its context, the action, and
// what happens at the deadline.
func (p printer) printQuestion(q *fermata.Question, now time.Time) {
	if !p.term {
		p.printWholeQuestion(q, now)
		return
	}
	var buf bytes.Buffer
	inner := p
	inner.w = &buf
	inner.printWholeQuestion(q, now)
	for _, line := range wrapLines(strings.Split(strings.TrimRight(buf.String(), "\n"), "\n"), p.width) {
		p.line("%s", line)
	}
}

func (p printer) printWholeQuestion(q *fermata.Question, now time.Time) {
	p.printTitle(q.Title)
	facts := []string{string(q.Type), string(q.Status), "risk " + string(q.Risk), "asked by " + actorName(q.AskedBy) + " " + formatDuration(now.Sub(q.CreatedAt)) + " ago"}
	if q.AskCount > 1 {
		facts = append(facts, fmt.Sprintf("asked %d times", q.AskCount))
	}
	p.line("%s", p.dim(strings.Join(facts, " · ")))
	p.printQuestionFacts(q)
	if q.Body != "" {
		p.line("")
		p.printQuoted("", q.Body)
	}
	p.printContext(q.Context)
	p.printAction("What will run", q.Action, q.ActionHash)
	p.printItems(q)
	p.line("")
	p.printEnding(q, now)
}

// printQuestionFacts writes the id, the task and the project of a question, and its
// votes.
func (p printer) printQuestionFacts(q *fermata.Question) {
	task := "task " + shortID(q.TaskID)
	if title := notice.TaskTitle(q); title != "" {
		task += " “" + truncate(title, 60) + "”"
	}
	facts := []string{q.ID, task, "project " + oneLine(q.Project)}
	if votes := notice.Votes(q); votes != "" {
		facts = append(facts, votes)
	}
	p.line("%s", p.dim(strings.Join(facts, " · ")))
}

// printContext writes the context of a question.
func (p printer) printContext(c *fermata.QuestionContext) {
	if c == nil {
		return
	}
	if c.Text != "" {
		p.line("")
		p.printBarred(clean(c.Text))
	}
	if c.Step != "" {
		p.line("")
		p.printLabelled("Step:", c.Step)
	}
	if c.Error != "" {
		p.line("")
		p.line("%s", p.red("Error"))
		p.printBarred(clean(c.Error))
	}
	if c.Preview != nil {
		p.line("")
		p.line("Preview (%s)", oneLine(c.Preview.Kind))
		p.printBarred(clean(c.Preview.Text))
	}
}

// printAction writes the complete action that a person consents to. It hides
// nothing. It writes a command as it was typed, or on demand the exact bytes.
func (p printer) printAction(head string, action json.RawMessage, hash string) {
	if len(action) == 0 {
		return
	}
	p.line("")
	p.line("%s", p.bold(head))
	if p.exactBytes {
		p.printBarred(visibleExact(string(action)))
	} else {
		for i, part := range notice.ActionParts(action) {
			if i > 0 {
				p.line("%s", p.bold(part.Head))
			}
			p.printBarred(part.Text)
		}
	}
	p.line("%s", p.dim("  sha256 "+oneLine(hash)))
}

// indentJSON returns an action with indentation. It changes only the space
// between values, never the values.
func indentJSON(action json.RawMessage) string {
	var indented bytes.Buffer
	if json.Indent(&indented, action, "", "  ") == nil {
		return indented.String()
	}
	return string(action)
}

func (p printer) printItems(q *fermata.Question) {
	for i := range q.Items {
		it := &q.Items[i]
		if len(q.Items) == 1 && it.Prompt == q.Title {
			if len(it.Options) > 0 {
				p.line("")
			}
			p.printOptions(it, "  ")
			continue
		}
		p.line("")
		head := oneLine(it.Header)
		if head != "" {
			head += ":"
		}
		if len(q.Items) > 1 {
			head = strings.TrimSpace(fmt.Sprintf("[%s] %s", oneLine(it.Key), head))
		}
		p.printLabelled(head, it.Prompt)
		p.printOptions(it, "  ")
	}
}

// printOptions writes the options of an item, each with the number that selects it if it can be selected by number.
func (p printer) printOptions(it *fermata.Item, indent string) {
	for i, o := range it.Options {
		mark := "-"
		if notice.CanPickByNumber(it) {
			mark = fmt.Sprintf("%d", i+1)
		}
		line := mark + "  " + oneLine(o.Text())
		if o.Label != "" && o.Label != o.Value {
			line += p.dim(" (" + oneLine(o.Value) + ")")
		}
		if o.Recommended {
			line += p.green("  ★ recommended")
		}
		if o.Danger {
			line += p.red("  ⚠ danger")
		}
		p.printOption(indent, strings.Repeat(" ", len(mark)+2), line)
		p.printQuoted(indent+strings.Repeat(" ", len(mark)), o.Description)
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
		notes = append(notes, "default: "+oneLine(valueText(it.Default)))
	}
	if len(notes) > 0 {
		p.line("%s%s", indent, p.dim(strings.Join(notes, "; ")))
	}
}

// printOption writes the line of an option. A long line continues behind a bar.
func (p printer) printOption(indent, deeper, line string) {
	parts := []string{line}
	if p.term {
		parts = strings.Split(ansi.Hardwrap(line, max(p.width-len(indent)-len(deeper)-ansi.StringWidth(barContinued), 16), true), "\n")
	}
	for i, part := range parts {
		if i > 0 {
			part = deeper + strings.TrimLeft(barContinued, " ") + part
		}
		p.line("%s%s", indent, part)
	}
}

// printEnding writes how the question ended, or what happens if nobody answers.
func (p printer) printEnding(q *fermata.Question, now time.Time) {
	for _, v := range q.Votes {
		p.printLabelled(fmt.Sprintf("%s voted %s.", actorName(v.By), v.Value), v.Comment)
	}
	if q.Resolution != nil {
		p.printResolution(q.Resolution)
		return
	}
	if h := q.HeldAnswer; h != nil {
		p.printText(fmt.Sprintf("%s answered %s; it counts from %s on, unless it is taken back.",
			actorName(h.By), oneLine(valuesText(h.Answers)), h.ReleaseAt.UTC().Format("15:04:05 MST")))
		p.printComment(h.Comment)
		return
	}
	if q.Approvals != nil && q.Approvals.Required > 1 {
		p.line("%d people must approve.", q.Approvals.Required)
	}
	if len(q.Assignees) > 0 {
		p.printText("For " + strings.Join(q.Assignees, ", ") + ".")
	}
	if q.UnreachedReason != "" && q.Status == fermata.Pending {
		p.printText("Nobody is told of it, it is in the inbox only: " + oneLine(q.UnreachedReason) + ".")
	}
	if q.Deadline == nil {
		p.line("It waits until somebody answers.")
		return
	}
	timeLeft := "The deadline has passed"
	if d := q.Deadline.Sub(now); d > 0 {
		timeLeft = formatDuration(d) + " left (until " + q.Deadline.UTC().Format("2006-01-02 15:04:05 MST") + ")"
	}
	p.printText(timeLeft + "; then " + notice.DeadlineEffect(q) + ".")
}

func (p printer) printResolution(r *fermata.Resolution) {
	p.printSentence(r)
	p.printComment(r.Comment)
	p.printAction("Approved with edits; only this may run", r.Action, r.ActionHash)
	if h := r.OvertakenAnswer; h != nil {
		p.printLabelled(fmt.Sprintf("%s had answered; it could still be taken back, so it did not count:", actorName(h.By)), valuesText(h.Answers))
		p.printComment(h.Comment)
	}
	for _, late := range r.LateAnswers {
		p.printLabelled(fmt.Sprintf("After the deadline %s answered:", actorName(late.By)), valuesText(late.Answers))
		p.printComment(late.Comment)
	}
}

// printComment writes a person's comment on the answer.
func (p printer) printComment(text string) {
	if text != "" {
		p.printLabelled("Comment:", text)
	}
}

// printSentence writes how a question ended. A long answer of a person stands behind
// a bar.
func (p printer) printSentence(r *fermata.Resolution) {
	sentence := r.Sentence()
	answer := r.AnswerText()
	if head, ok := strings.CutSuffix(sentence, ": "+answer); ok && answer != "" {
		p.printLabelled(strings.ToUpper(head[:1])+oneLine(head[1:])+":", answer)
		return
	}
	p.printText(strings.ToUpper(sentence[:1]) + sentence[1:] + ".")
}

// actorName returns the name of an actor, or the kind if there is no name.
func actorName(a fermata.Actor) string {
	if a.Name == "" {
		return string(a.Kind)
	}
	return oneLine(a.Name)
}

// valueText returns the value of an answer as people read it.
func valueText(v any) string { return (&fermata.Resolution{Answer: v}).AnswerText() }

// valuesText returns the values of items as people read them. It leaves out the
// key of a single item.
func valuesText(values map[string]any) string {
	if len(values) == 1 {
		for _, v := range values {
			return valueText(v)
		}
	}
	return (&fermata.Resolution{Answers: values}).AnswerText()
}

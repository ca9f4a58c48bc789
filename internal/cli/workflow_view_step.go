package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/fermata-hq/fermata"
)

// step returns the line of a step.
func (v *runView) step(step *fermata.WorkflowStep, width int) row {
	p := v.s.stdout()
	state := fmt.Sprintf("%-9s", step.State)
	switch step.State {
	case fermata.StepWaiting:
		state = p.yellow(state)
	case fermata.StepFailed, fermata.StepRejected:
		state = p.red(state)
	case fermata.StepDone:
		state = p.green(state)
	default:
	}
	name := stepName(step)
	indent := ""
	if step.Item != nil {
		indent = "  "
	}
	text := fmt.Sprintf("%s %s  %s  %-6s  ", v.marks.step(step), pad(name, width), state, v.s.durationText(step.StartedAt, step.EndedAt))
	parts := []string{p.dim(oneLine(step.Tool))}
	if step.Attempt > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", step.Attempt))
	}
	if step.Note != "" {
		parts = append(parts, oneLine(step.Note))
	}
	return row{indent: indent, text: text + strings.Join(parts, " · "), key: fmt.Sprint(name, step.State, step.Attempt, step.Note)}
}

// stepName returns the name of a step, with its occurrence and its item if
// there are several.
func stepName(step *fermata.WorkflowStep) string {
	name := oneLine(step.Step)
	if step.Occurrence > 1 {
		name += fmt.Sprintf(" #%d", step.Occurrence)
	}
	if step.Item != nil {
		name += fmt.Sprintf("[%d]", *step.Item)
	}
	return name
}

// details returns what a step waits for, why it failed, and its output.
func (v *runView) details(step *fermata.WorkflowStep) []row {
	var rows []row
	if q := v.run.PendingQuestion; q != nil && step.QuestionID == q.ID && !step.State.IsEnded() {
		rows = append(rows, v.question(q))
	}
	if child := v.children[step.ChildID]; child != nil {
		text := v.marks.waits + " " + stateText(child) + "  " + v.s.stdout().dim(v.s.idText(child.ID)) + "  " + oneLine(child.Title)
		rows = append(rows, row{text: text, key: child.ID + stateText(child)})
		if n := child.NoWorker; n != nil {
			rows = append(rows, v.wrapText("  ", oneLine(n.String()), child.ID, v.s.stdout().yellow)...)
		}
		if q := child.PendingQuestion; q != nil {
			rows = append(rows, v.question(q))
		}
	}
	if step.Until != nil && step.State == fermata.StepWaiting && step.QuestionID == "" {
		text := "goes on at " + v.s.leftText(step.Until)
		if v.s.outTerm {
			text = "goes on in " + v.s.leftText(step.Until)
		}
		rows = append(rows, row{text: text, key: stepName(step) + step.Until.String()})
	}
	if e := step.Error; e != nil {
		key := fmt.Sprint(stepName(step), step.Attempt)
		rows = append(rows, v.wrapText("", oneLine(e.Message)+" ["+oneLine(e.Code)+"]", key, v.s.stdout().red)...)
		if e.Hint != "" {
			rows = append(rows, v.wrapText("", "hint: "+oneLine(e.Hint), key, nil)...)
		}
	}
	if text := shortOutput(step); text != "" {
		rows = append(rows, row{text: v.s.stdout().dim("= " + text), key: stepName(step) + text})
	}
	return rows
}

// maxDetailIndent is the deepest indentation of a step's details.
const maxDetailIndent = 6

// wrapText returns rows with a text that must not be cut. On a terminal it
// takes as many rows as it needs.
func (v *runView) wrapText(indent, text, key string, paint func(string) string) []row {
	lines := []string{text}
	if v.s.outTerm {
		lines = strings.Split(ansi.Wrap(text, max(v.s.width-maxDetailIndent, 16), ""), "\n")
	}
	rows := make([]row, 0, len(lines))
	for _, line := range lines {
		shown := line
		if paint != nil {
			shown = paint(line)
		}
		rows = append(rows, row{indent: indent, text: shown, key: key + line})
	}
	return rows
}

// question returns the line of a pending question.
func (v *runView) question(q *fermata.Question) row {
	p := v.s.stdout()
	text := p.yellow(v.marks.asks) + " " + p.dim(v.s.idText(q.ID)) + "  " + oneLine(q.Title) + p.dim("  ["+v.s.questionFacts(q)+"]")
	return row{text: text, key: fmt.Sprint(q.ID, q.Assignees, q.Deadline, len(q.Votes))}
}

// maxOutputLength is the largest part of an output on a line.
const maxOutputLength = 100

// shortOutput returns a step's output on one line, cut to a limit. For an
// answered question it is the answer and its author.
func shortOutput(step *fermata.WorkflowStep) string {
	text := oneLine(string(step.Output))
	if answer := stepAnswer(step); answer != "" {
		text = answer
	}
	if text == "null" || text == "{}" || text == "" {
		return ""
	}
	return ansi.Truncate(text, maxOutputLength, "…")
}

// stepAnswer returns people's answer to a step, or "" if the step asked nothing.
func stepAnswer(step *fermata.WorkflowStep) string {
	var a struct {
		Answer  any            `json:"answer"`
		Answers map[string]any `json:"answers"`
		By      string         `json:"by"`
		Source  string         `json:"source"`
		Comment string         `json:"comment"`
	}
	if step.QuestionID == "" || json.Unmarshal(step.Output, &a) != nil {
		return ""
	}
	text := valuesText(a.Answers)
	if _, several := a.Answer.(map[string]any); a.Answer != nil && !several {
		text = valueText(a.Answer)
	}
	if text == "" {
		return ""
	}
	by := a.By
	if a.Source != "" && a.Source != "human" {
		by = a.Source
	}
	if by != "" {
		text += " (" + by + ")"
	}
	if a.Comment != "" {
		text += ": " + a.Comment
	}
	return oneLine(text)
}

// pad fills a text with spaces up to a width.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-ansi.StringWidth(text), 0))
}

package workflow

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/drawing"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// step returns the line of a step.
func (v *runView) step(step *fermata.WorkflowStep, width int) drawing.Row {
	p := v.s.Stdout()
	state := fmt.Sprintf("%-9s", step.State)
	switch step.State {
	case fermata.StepWaiting:
		state = p.Yellow(state)
	case fermata.StepFailed, fermata.StepRejected:
		state = p.Red(state)
	case fermata.StepDone:
		state = p.Green(state)
	default:
	}
	name := render.StepName(step)
	indent := ""
	if step.Item != nil {
		indent = "  "
	}
	text := fmt.Sprintf("%s %s  %s  %-6s  ", v.marks.Step(step), pad(name, width), state, durationText(v.s, step.StartedAt, step.EndedAt))
	parts := []string{p.Dim(terminal.OneLine(step.Tool))}
	if step.Attempt > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", step.Attempt))
	}
	if step.Note != "" {
		parts = append(parts, terminal.OneLine(step.Note))
	}
	return drawing.Row{Indent: indent, Text: text + strings.Join(parts, " · "), Key: fmt.Sprint(name, step.State, step.Attempt, step.Note)}
}

// details returns what a step waits for, why it failed, and its output.
func (v *runView) details(step *fermata.WorkflowStep) []drawing.Row {
	var rows []drawing.Row
	asked := v.questionOf(step)
	rows = append(rows, v.questionRows(asked)...)
	if child := v.children[step.ChildID]; child != nil && (asked == nil || asked.TaskID != child.ID) {
		text := v.marks.State(child.State) + " " + render.StateText(child) + "  " + v.s.Stdout().Dim(v.s.IDText(child.ID)) + "  " + terminal.OneLine(child.Title)
		rows = append(rows, drawing.Row{Text: text, Key: child.ID + render.StateText(child)})
		if n := child.NoWorker; n != nil {
			rows = append(rows, v.wrapText("  ", terminal.OneLine(n.String()), child.ID, v.s.Stdout().Yellow)...)
		}
		rows = append(rows, v.questionRows(child.PendingQuestion)...)
	}
	if step.Until != nil && step.State == fermata.StepWaiting && step.QuestionID == "" {
		text := "goes on at " + v.s.LeftText(step.Until)
		if v.s.OutTerm {
			text = "goes on in " + v.s.LeftText(step.Until)
		}
		rows = append(rows, drawing.Row{Text: text, Key: render.StepName(step) + step.Until.String()})
	}
	if e := step.Error; e != nil {
		key := fmt.Sprint(render.StepName(step), step.Attempt)
		rows = append(rows, v.wrapText("", terminal.OneLine(e.Message)+" ["+terminal.OneLine(e.Code)+"]", key, v.s.Stdout().Red)...)
		if e.Hint != "" {
			rows = append(rows, v.wrapText("", "hint: "+terminal.OneLine(e.Hint), key, nil)...)
		}
	}
	if text := shortOutput(step); text != "" {
		rows = append(rows, drawing.Row{Text: v.s.Stdout().Dim("= " + text), Key: render.StepName(step) + text})
	}
	return rows
}

// maxDetailIndent is the deepest indentation of a step's details.
const maxDetailIndent = 6

// wrapText returns rows with a text that must not be cut. On a terminal it
// takes as many rows as it needs.
func (v *runView) wrapText(indent, text, key string, paint func(string) string) []drawing.Row {
	lines := []string{text}
	if v.s.OutTerm {
		lines = strings.Split(ansi.Wrap(text, max(v.s.Width-maxDetailIndent, 16), ""), "\n")
	}
	rows := make([]drawing.Row, 0, len(lines))
	for _, line := range lines {
		shown := line
		if paint != nil {
			shown = paint(line)
		}
		rows = append(rows, drawing.Row{Indent: indent, Text: shown, Key: key + line})
	}
	return rows
}

// questionRows returns the line of a pending question, and the command that answers it. It returns nothing for nil.
func (v *runView) questionRows(q *fermata.Question) []drawing.Row {
	if q == nil {
		return nil
	}
	p := v.s.Stdout()
	text := p.Yellow(v.marks.Asks) + " " + p.Dim(v.s.IDText(q.ID)) + "  " + terminal.OneLine(q.Title) + p.Dim("  ["+render.QuestionFacts(&v.s.Console, q)+"]")
	command := "answer it: fermata respond " + v.s.IDText(q.ID)
	if h := q.HeldAnswer; h != nil {
		command = fmt.Sprintf("%s answered; it counts from %s on, unless it is taken back: fermata undo %s", render.ActorName(h.By), h.ReleaseAt.UTC().Format("15:04:05 MST"), v.s.IDText(q.ID))
	}
	return []drawing.Row{
		{Text: text, Key: fmt.Sprint(q.ID, q.Assignees, q.Deadline, len(q.Votes))},
		{Text: "  " + p.Dim(command), Key: command},
	}
}

// maxOutputLength is the largest part of an output on a line.
const maxOutputLength = 100

// shortOutput returns a step's output on one line, cut to a limit. For an
// answered question it is the answer and its author.
func shortOutput(step *fermata.WorkflowStep) string {
	text := terminal.OneLine(string(step.Output))
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
	text := render.ValuesText(a.Answers)
	if _, several := a.Answer.(map[string]any); a.Answer != nil && !several {
		text = render.ValueText(a.Answer)
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
	return terminal.OneLine(text)
}

// pad fills a text with spaces up to a width.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-ansi.StringWidth(text), 0))
}

package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/charmbracelet/x/ansi"

	"github.com/fermata-hq/fermata"
)

// runView is the drawing of a workflow run, step by step.
type runView struct {
	s     *session
	id    string
	marks marks
	run   *fermata.WorkflowRun
	// children are the tasks that the present steps wait for.
	children map[string]*fermata.Task
	// before are the tasks that must end before the run continues, if none of its steps waits: runs that must not run
	// at the same time.
	before []*fermata.Task
	// more is the number of further tasks that are not in before.
	more int
}

// mostBefore is the largest number of these tasks in a drawing.
const mostBefore = 3

// mostChildren is the largest number of tasks that are read for one drawing.
const mostChildren = 20

// read reads the run, and the tasks that it waits for, from the server.
func (v *runView) read(ctx context.Context) error {
	run, err := v.s.client.WorkflowRun(ctx, v.id)
	if err != nil {
		return err
	}
	children := map[string]*fermata.Task{}
	for _, step := range run.Steps {
		if step.ChildID == "" || step.State.IsEnded() || len(children) == mostChildren {
			continue
		}
		child, err := v.s.client.Task(ctx, step.ChildID)
		if unexpected(err) {
			return err
		}
		if child != nil {
			children[step.ChildID] = child
		}
	}
	if v.before, v.more, err = v.waitsFor(ctx, run); err != nil {
		return err
	}
	v.run, v.children = run, children
	return nil
}

// waitsFor returns the tasks that a run waits for before it starts a step, and how many more there may be.
func (v *runView) waitsFor(ctx context.Context, run *fermata.WorkflowRun) (before []*fermata.Task, more int, err error) {
	if run.State != fermata.TaskBlocked || slices.ContainsFunc(run.Steps, func(s *fermata.WorkflowStep) bool { return !s.State.IsEnded() }) {
		return nil, 0, nil
	}
	task, err := v.s.client.Task(ctx, run.ID)
	if err != nil {
		return nil, 0, err
	}
	for i, id := range task.BlockedBy {
		if len(before) == mostBefore {
			return before, len(task.BlockedBy) - i, nil
		}
		other, err := v.s.client.Task(ctx, id)
		if unexpected(err) {
			return nil, 0, err
		}
		if other != nil && !other.State.IsEnded() {
			before = append(before, other)
		}
	}
	return before, 0, nil
}

func (v *runView) document() any {
	if v.run == nil {
		return nil
	}
	return v.run
}

func (v *runView) concerns(e *fermata.Event) bool {
	return e.TaskID == v.id || v.children[e.TaskID] != nil
}

// isOver reports whether the run has ended. To follow a retry, watch the run again.
func (v *runView) isOver() bool { return v.run != nil && v.run.State.IsEnded() }

// rows returns the run, its steps in the order in which they began, and the steps that are still to come.
func (v *runView) rows() []row {
	rows := []row{v.head(), v.origin()}
	for _, t := range v.before {
		text := v.marks.waits + " waits for the end of " + v.s.data().dim(v.s.id(t.ID)) + "  " + oneLine(t.Title) + " (" + stateText(t) + ")"
		rows = append(rows, row{indent: "  ", text: text, key: t.ID + stateText(t)})
	}
	if v.more > 0 {
		text := fmt.Sprintf("and %d more", v.more)
		rows = append(rows, row{indent: "  ", text: text, key: text})
	}
	width, ahead := v.width(), v.stepsAhead()
	for _, step := range v.run.Steps {
		line := v.step(step, width)
		line.now = !step.State.IsEnded()
		rows = append(rows, line)
		for _, detail := range v.details(step) {
			detail.now = line.now
			detail.indent = "    "
			if step.Item != nil {
				detail.indent = "      "
			}
			rows = append(rows, detail)
		}
	}
	for _, node := range ahead {
		text := pad(oneLine(node.ID), width) + "  not yet            " + oneLine(node.Tool)
		rows = append(rows, row{text: v.s.data().dim(v.marks.ahead + " " + text), key: node.ID})
	}
	return append(rows, v.end()...)
}

// width returns the width of the longest step name.
func (v *runView) width() int {
	width := 0
	for _, step := range v.run.Steps {
		width = max(width, ansi.StringWidth(stepName(step)))
	}
	for _, node := range v.stepsAhead() {
		width = max(width, ansi.StringWidth(oneLine(node.ID)))
	}
	return width
}

// head returns the line of the run itself.
func (v *runView) head() row {
	p, r := v.s.data(), v.run
	state := p.inState(r.State, v.marks.state(r.State)+" "+runState(r))
	id := ""
	if r.ID != "" {
		id = p.dim(v.s.id(r.ID)) + "  "
	}
	return row{text: state + "  " + id + oneLine(r.Title), key: runState(r) + r.Title}
}

// origin returns the line with the definition, the starter and the time of the run.
func (v *runView) origin() row {
	r := v.run
	by := "started by " + originOf(r)
	text := fmt.Sprintf("%s %s · %s %s · %s", oneLine(r.Workflow), shortHash(r.Hash), by, v.s.sinceText(r.CreatedAt), v.s.durationText(r.CreatedAt, r.EndedAt))
	return row{indent: "  ", text: v.s.data().dim(text), key: "origin"}
}

// end returns the result of the run, and what a person can do about it.
func (v *runView) end() []row {
	var rows []row
	if v.run.State.IsEnded() && v.run.Summary != "" {
		rows = append(rows, v.wrapText(bar, oneLine(v.run.Summary), "end", nil)...)
	}
	if v.run.CanRetry && v.run.State == fermata.TaskFailed {
		rows = append(rows, row{text: v.s.data().dim("try again: fermata workflow retry " + v.s.id(v.run.ID)), key: "retry"})
	}
	return rows
}

// phasesAhead maps the present list of steps to the lists that can still come.
var phasesAhead = map[string][]string{
	"": {"", "on_success", "finally"}, "on_success": {"on_success", "finally"}, "on_failure": {"on_failure", "finally"}, "finally": {"finally"},
}

// stepsAhead returns the steps that a run must still do. The run has not begun them, or it went back to a step before
// them. It leaves out the steps of a phase that the run has left.
func (v *runView) stepsAhead() []fermata.GraphNode {
	if v.run.State.IsEnded() || v.run.Graph == nil {
		return nil
	}
	last := map[string]*fermata.WorkflowStep{}
	for _, step := range v.run.Steps {
		if step.Item == nil {
			last[step.Step] = step
		}
	}
	outdated := v.outdated(last)
	begun := func(id string) bool { return last[id] != nil && !outdated[id] }
	phase := ""
	for _, node := range v.run.Graph.Nodes {
		if begun(node.ID) && node.Phase != "" {
			phase = node.Phase
		}
	}
	var list []fermata.GraphNode
	for _, node := range v.run.Graph.Nodes {
		if isStep(node) && !begun(node.ID) && slices.Contains(phasesAhead[phase], node.Phase) {
			list = append(list, node)
		}
	}
	return list
}

// outdated returns the steps that the run will repeat: an earlier step that leads to them was repeated after they
// began.
func (v *runView) outdated(last map[string]*fermata.WorkflowStep) map[string]bool {
	old := map[string]bool{}
	for _, again := range last {
		if again.Occurrence < 2 {
			continue
		}
		for _, node := range v.run.Graph.Nodes {
			if step := last[node.ID]; step != nil && node.Phase != "" && step.StartedAt.Before(again.StartedAt) {
				old[node.ID] = true // the run repeats the steps of its last phases
			}
		}
		seen, left := map[string]bool{again.Step: true}, []string{again.Step}
		for len(left) > 0 {
			from := left[0]
			left = left[1:]
			for _, edge := range v.run.Graph.Edges {
				if edge.From != from || edge.Back || seen[edge.To] {
					continue
				}
				seen[edge.To] = true
				left = append(left, edge.To)
				if step := last[edge.To]; step != nil && step.StartedAt.Before(again.StartedAt) {
					old[edge.To] = true
				}
			}
		}
	}
	return old
}

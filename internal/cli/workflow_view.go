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
	// blockers are the tasks that must end before the run continues, if none of its steps waits: runs that must not run
	// at the same time.
	blockers []*fermata.Task
	// moreBlockers is the number of further tasks that are not in blockers.
	moreBlockers int
}

// maxShownBlockers is the largest number of these tasks in a drawing.
const maxShownBlockers = 3

// maxChildren is the largest number of tasks that are read for one drawing.
const maxChildren = 20

// read reads the run, and the tasks that it waits for, from the server.
func (v *runView) read(ctx context.Context) error {
	run, err := v.s.client.WorkflowRun(ctx, v.id)
	if err != nil {
		return err
	}
	children := map[string]*fermata.Task{}
	for _, step := range run.Steps {
		if step.ChildID == "" || step.State.IsEnded() || len(children) == maxChildren {
			continue
		}
		child, err := v.s.client.Task(ctx, step.ChildID)
		if isLookupFailure(err) {
			return err
		}
		if child != nil {
			children[step.ChildID] = child
		}
	}
	if v.blockers, v.moreBlockers, err = v.readBlockers(ctx, run); err != nil {
		return err
	}
	v.run, v.children = run, children
	return nil
}

// readBlockers returns the tasks that a run waits for before it starts a step, and how many more there may be.
func (v *runView) readBlockers(ctx context.Context, run *fermata.WorkflowRun) (blockers []*fermata.Task, more int, err error) {
	if run.State != fermata.TaskBlocked || slices.ContainsFunc(run.Steps, func(s *fermata.WorkflowStep) bool { return !s.State.IsEnded() }) {
		return nil, 0, nil
	}
	task, err := v.s.client.Task(ctx, run.ID)
	if err != nil {
		return nil, 0, err
	}
	for i, id := range task.BlockedBy {
		if len(blockers) == maxShownBlockers {
			return blockers, len(task.BlockedBy) - i, nil
		}
		other, err := v.s.client.Task(ctx, id)
		if isLookupFailure(err) {
			return nil, 0, err
		}
		if other != nil && !other.State.IsEnded() {
			blockers = append(blockers, other)
		}
	}
	return blockers, 0, nil
}

func (v *runView) document() any {
	if v.run == nil {
		return nil
	}
	return v.run
}

func (v *runView) isAffectedBy(e *fermata.Event) bool {
	return e.TaskID == v.id || v.children[e.TaskID] != nil
}

// isOver reports whether the run has ended. To follow a retry, watch the run again.
func (v *runView) isOver() bool { return v.run != nil && v.run.State.IsEnded() }

// rows returns the run, its steps in the order in which they began, and the steps that are still to come.
func (v *runView) rows() []row {
	rows := []row{v.head(), v.origin()}
	for _, t := range v.blockers {
		text := v.marks.waits + " waits for the end of " + v.s.stdout().dim(v.s.idText(t.ID)) + "  " + oneLine(t.Title) + " (" + stateText(t) + ")"
		rows = append(rows, row{indent: "  ", text: text, key: t.ID + stateText(t)})
	}
	if v.moreBlockers > 0 {
		text := fmt.Sprintf("and %d more", v.moreBlockers)
		rows = append(rows, row{indent: "  ", text: text, key: text})
	}
	width, upcoming := v.width(), v.stepsAhead()
	for _, step := range v.run.Steps {
		line := v.step(step, width)
		line.isActive = !step.State.IsEnded()
		rows = append(rows, line)
		for _, detail := range v.details(step) {
			detail.isActive = line.isActive
			detail.indent = "    "
			if step.Item != nil {
				detail.indent = "      "
			}
			rows = append(rows, detail)
		}
	}
	for _, node := range upcoming {
		text := pad(oneLine(node.ID), width) + "  not yet            " + oneLine(node.Tool)
		rows = append(rows, row{text: v.s.stdout().dim(v.marks.notStarted + " " + text), key: node.ID})
	}
	return append(rows, v.resultRows()...)
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
	p, r := v.s.stdout(), v.run
	state := p.colorByState(r.State, v.marks.state(r.State)+" "+runState(r))
	id := ""
	if r.ID != "" {
		id = p.dim(v.s.idText(r.ID)) + "  "
	}
	return row{text: state + "  " + id + oneLine(r.Title), key: runState(r) + r.Title}
}

// origin returns the line with the definition, the starter and the time of the run.
func (v *runView) origin() row {
	r := v.run
	by := "started by " + originText(r)
	text := fmt.Sprintf("%s %s · %s %s · %s", oneLine(r.Workflow), shortHash(r.Hash), by, v.s.sinceText(r.CreatedAt), v.s.durationText(r.CreatedAt, r.EndedAt))
	return row{indent: "  ", text: v.s.stdout().dim(text), key: "origin"}
}

// resultRows returns the result of the run, and what a person can do about it.
func (v *runView) resultRows() []row {
	var rows []row
	if v.run.State.IsEnded() && v.run.Summary != "" {
		rows = append(rows, v.wrapText(barStart, oneLine(v.run.Summary), "end", nil)...)
	}
	if v.run.CanRetry && v.run.State == fermata.TaskFailed {
		rows = append(rows, row{text: v.s.stdout().dim("try again: fermata workflow retry " + v.s.idText(v.run.ID)), key: "retry"})
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
	latest := map[string]*fermata.WorkflowStep{}
	for _, step := range v.run.Steps {
		if step.Item == nil {
			latest[step.Step] = step
		}
	}
	outdated := v.outdatedSteps(latest)
	hasBegun := func(id string) bool { return latest[id] != nil && !outdated[id] }
	phase := ""
	for _, node := range v.run.Graph.Nodes {
		if hasBegun(node.ID) && node.Phase != "" {
			phase = node.Phase
		}
	}
	var list []fermata.GraphNode
	for _, node := range v.run.Graph.Nodes {
		if isStep(node) && !hasBegun(node.ID) && slices.Contains(phasesAhead[phase], node.Phase) {
			list = append(list, node)
		}
	}
	return list
}

// outdatedSteps returns the steps that the run will repeat: an earlier step that leads to them was repeated after they
// began.
func (v *runView) outdatedSteps(latest map[string]*fermata.WorkflowStep) map[string]bool {
	stale := map[string]bool{}
	for _, repeated := range latest {
		if repeated.Occurrence < 2 {
			continue
		}
		for _, node := range v.run.Graph.Nodes {
			if step := latest[node.ID]; step != nil && node.Phase != "" && step.StartedAt.Before(repeated.StartedAt) {
				stale[node.ID] = true // the run repeats the steps of its last phases
			}
		}
		seen, queue := map[string]bool{repeated.Step: true}, []string{repeated.Step}
		for len(queue) > 0 {
			from := queue[0]
			queue = queue[1:]
			for _, edge := range v.run.Graph.Edges {
				if edge.From != from || edge.Back || seen[edge.To] {
					continue
				}
				seen[edge.To] = true
				queue = append(queue, edge.To)
				if step := latest[edge.To]; step != nil && step.StartedAt.Before(repeated.StartedAt) {
					stale[edge.To] = true
				}
			}
		}
	}
	return stale
}

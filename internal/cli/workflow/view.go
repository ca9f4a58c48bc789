package workflow

import (
	"context"
	"fmt"
	"slices"

	"github.com/charmbracelet/x/ansi"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/drawing"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// runView is the drawing of a workflow run, step by step.
type runView struct {
	s     *session.Session
	id    string
	marks drawing.Marks
	run   *fermata.WorkflowRun
	// children are the tasks of the present steps. questions are the open questions of branches, items and children, by
	// id.
	children  map[string]*fermata.Task
	questions map[string]*fermata.Question
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

// Read reads the run, and the tasks that it waits for, from the server.
func (v *runView) Read(ctx context.Context) error {
	run, err := v.s.Client.WorkflowRun(ctx, v.id)
	if err != nil {
		return err
	}
	children, questions := map[string]*fermata.Task{}, map[string]*fermata.Question{}
	addQuestion := func(q *fermata.Question) {
		if q != nil && q.Status == fermata.Pending {
			questions[q.ID] = q
		}
	}
	for _, step := range run.Steps {
		if step.ChildID == "" || step.State.IsEnded() || len(children) == maxChildren {
			continue
		}
		child, err := v.s.Client.Task(ctx, step.ChildID)
		if session.IsLookupFailure(err) {
			return err
		}
		if child != nil {
			children[step.ChildID] = child
			addQuestion(child.PendingQuestion)
		}
		if step.QuestionID == "" || step.QuestionID == run.PendingQuestionID || questions[step.QuestionID] != nil {
			continue
		}
		q, err := v.s.Client.Question(ctx, step.QuestionID)
		if session.IsLookupFailure(err) {
			return err
		}
		addQuestion(q)
	}
	if v.blockers, v.moreBlockers, err = v.readBlockers(ctx, run); err != nil {
		return err
	}
	v.run, v.children, v.questions = run, children, questions
	return nil
}

// questionOf returns the open question that a step asked, or nil.
func (v *runView) questionOf(step *fermata.WorkflowStep) *fermata.Question {
	switch q := v.run.PendingQuestion; {
	case step.State.IsEnded() || step.QuestionID == "":
		return nil
	case q != nil && q.ID == step.QuestionID:
		return q
	}
	return v.questions[step.QuestionID]
}

// openQuestions returns the questions that the run waits for, in the order of its steps.
func (v *runView) openQuestions() []*fermata.Question {
	var list []*fermata.Question
	for _, step := range v.run.Steps {
		if q := v.questionOf(step); q != nil {
			list = append(list, q)
		} else if child := v.children[step.ChildID]; child != nil && child.PendingQuestion != nil {
			list = append(list, child.PendingQuestion)
		}
	}
	return list
}

// readBlockers returns the tasks that a run waits for before it starts a step, and how many more there may be.
func (v *runView) readBlockers(ctx context.Context, run *fermata.WorkflowRun) (blockers []*fermata.Task, more int, err error) {
	if run.State != fermata.TaskBlocked || slices.ContainsFunc(run.Steps, func(s *fermata.WorkflowStep) bool { return !s.State.IsEnded() }) {
		return nil, 0, nil
	}
	task, err := v.s.Client.Task(ctx, run.ID)
	if err != nil {
		return nil, 0, err
	}
	for i, id := range task.BlockedBy {
		if len(blockers) == maxShownBlockers {
			return blockers, len(task.BlockedBy) - i, nil
		}
		other, err := v.s.Client.Task(ctx, id)
		if session.IsLookupFailure(err) {
			return nil, 0, err
		}
		if other != nil && !other.State.IsEnded() {
			blockers = append(blockers, other)
		}
	}
	return blockers, 0, nil
}

func (v *runView) Document() any {
	if v.run == nil {
		return nil
	}
	return v.run
}

func (v *runView) IsAffectedBy(e *fermata.Event) bool {
	return e.TaskID == v.id || v.children[e.TaskID] != nil || v.questions[e.QuestionID] != nil
}

// IsOver reports whether the run has ended. To follow a retry, watch the run again.
func (v *runView) IsOver() bool { return v.run != nil && v.run.State.IsEnded() }

// Rows returns the run, its steps in the order in which they began, and the steps that are still to come.
func (v *runView) Rows() []drawing.Row {
	rows := []drawing.Row{v.head(), v.origin()}
	for _, t := range v.blockers {
		text := v.marks.Waits + " waits for the end of " + v.s.Stdout().Dim(v.s.IDText(t.ID)) + "  " + terminal.OneLine(t.Title) + " (" + render.StateText(t) + ")"
		rows = append(rows, drawing.Row{Indent: "  ", Text: text, Key: t.ID + render.StateText(t)})
	}
	if v.moreBlockers > 0 {
		text := fmt.Sprintf("and %d more", v.moreBlockers)
		rows = append(rows, drawing.Row{Indent: "  ", Text: text, Key: text})
	}
	width, upcoming := v.width(), v.stepsAhead()
	for _, step := range v.run.Steps {
		line := v.step(step, width)
		line.IsActive = !step.State.IsEnded()
		rows = append(rows, line)
		for _, detail := range v.details(step) {
			detail.IsActive = line.IsActive
			detail.Indent = "    "
			if step.Item != nil {
				detail.Indent = "      "
			}
			rows = append(rows, detail)
		}
	}
	for _, node := range upcoming {
		text := pad(terminal.OneLine(node.ID), width) + "  not yet            " + terminal.OneLine(node.Tool)
		rows = append(rows, drawing.Row{Text: v.s.Stdout().Dim(v.marks.NotStarted + " " + text), Key: node.ID})
	}
	return append(rows, v.resultRows()...)
}

// width returns the width of the longest step name.
func (v *runView) width() int {
	width := 0
	for _, step := range v.run.Steps {
		width = max(width, ansi.StringWidth(render.StepName(step)))
	}
	for _, node := range v.stepsAhead() {
		width = max(width, ansi.StringWidth(terminal.OneLine(node.ID)))
	}
	return width
}

// head returns the line of the run itself.
func (v *runView) head() drawing.Row {
	p, r := v.s.Stdout(), v.run
	state := drawing.ColorByState(p, r.State, v.marks.State(r.State)+" "+runState(r))
	id := ""
	if r.ID != "" {
		id = p.Dim(v.s.IDText(r.ID)) + "  "
	}
	return drawing.Row{Text: state + "  " + id + terminal.OneLine(r.Title), Key: runState(r) + r.Title}
}

// origin returns the line with the definition, the starter and the time of the run.
func (v *runView) origin() drawing.Row {
	r := v.run
	by := "started by " + originText(r)
	text := fmt.Sprintf("%s %s · %s %s · %s", terminal.OneLine(r.Workflow), terminal.ShortHash(r.Hash), by, sinceText(v.s, r.CreatedAt), durationText(v.s, r.CreatedAt, r.EndedAt))
	return drawing.Row{Indent: "  ", Text: v.s.Stdout().Dim(text), Key: "origin"}
}

// resultRows returns the result of the run, and what a person can do about it.
func (v *runView) resultRows() []drawing.Row {
	var rows []drawing.Row
	if v.run.State.IsEnded() && v.run.Summary != "" {
		rows = append(rows, v.wrapText(terminal.BarStart, terminal.OneLine(v.run.Summary), "end", nil)...)
	}
	if v.run.CanRetry && v.run.State == fermata.TaskFailed {
		rows = append(rows, drawing.Row{Text: v.s.Stdout().Dim("try again: fermata workflow retry " + v.s.IDText(v.run.ID)), Key: "retry"})
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

package workflow

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// Rewind sends a run back to a main step that it has begun. The run may have ended. The work in progress at that step
// and after it is cancelled. Other branches continue.
func (s *Service) Rewind(ctx context.Context, c fermata.Caller, typed string, to fermata.RunRewind) (*fermata.WorkflowRun, error) {
	id, err := s.runToChange(ctx, c, typed)
	if err != nil {
		return nil, err
	}
	if err := to.Check(); err != nil {
		return nil, err
	}
	_, err = s.e.RewindWith(ctx, c, id, func(tx *store.Tx, t *fermata.Task) (engine.Rewound, error) {
		x, err := s.openToChange(tx, t)
		if err != nil {
			return engine.Rewound{}, err
		}
		step, err := x.rewindTo(to.Step)
		if err != nil {
			return engine.Rewound{}, err
		}
		left := x.rewind(tx, t, step, to.Feedback)
		left.Why = fmt.Sprintf("%s sent the run back to the step %s", c.Actor().DisplayName(), step.ID)
		if to.Newest {
			if err := x.moveToNewest(tx, c); err != nil {
				return left, err
			}
		}
		t.Checkpoint = x.st.bytes()
		told := map[string]any{"workflow": x.run.Workflow, "step": step.ID}
		if to.Feedback != "" {
			told["feedback"] = to.Feedback
		}
		left.Event = &fermata.Event{Type: fermata.EventRunRewound, TaskID: id, RunID: t.RunID, Actor: c.Actor(), Data: data(told)}
		return left, nil
	})
	if err != nil {
		return nil, err
	}
	return s.OneRun(ctx, c, id)
}

// runToChange returns the id of a run that the caller may rewind and move.
func (s *Service) runToChange(ctx context.Context, c fermata.Caller, typed string) (string, error) {
	r := s.reads(ctx, c)
	id, err := r.FindID("run of a workflow", "tasks", fermata.PrefixTask, typed)
	if err != nil {
		return "", err
	}
	run, err := r.WorkflowRun(id)
	if err != nil {
		return "", err
	}
	return id, c.May(fermata.ToRewindWorkflow, fermata.InProject(orDefault(run.Project)))
}

// openToChange loads a run in the transaction that changes its place.
func (s *Service) openToChange(tx *store.Tx, t *fermata.Task) (*execution, error) {
	run, err := tx.WorkflowRun(t.ID)
	if err != nil {
		return nil, err
	}
	x := &execution{s: s, run: run, now: tx.Now()}
	if x.def, err = s.pinned(tx.Reader, run); err != nil {
		return nil, err
	}
	if x.st, err = readState(t.Checkpoint); err != nil {
		return nil, err
	}
	if x.st == nil {
		return nil, fermata.Errorf(fermata.CodeIllegalTransition, "the run has not begun")
	}
	if err := x.readSteps(tx.Reader); err != nil {
		return nil, err
	}
	x.restorePlaces(t.State.IsEnded())
	return x, nil
}

// restorePlaces sets the places at which the run is, or at which it would continue if it was retried. A run whose main
// steps failed is at those places, also while it does its on_failure steps.
func (x *execution) restorePlaces(ended bool) {
	var at []place
	switch o := x.st.Outcome; {
	case !o.isDone() && (ended || o.Phase == definition.MainPhase):
		at = append([]place{placeOf(o)}, o.Others...)
	default:
		at = append([]place{x.st.place}, x.st.Others...)
		for i := range at {
			if ended {
				at[i] = at[i].nextAttempt()
			}
		}
	}
	if failed := x.st.Failing; failed != nil {
		at = append(append(at, placeOf(failed)), failed.Others...)
	}
	if o := x.st.Outcome; ended && o != nil {
		x.st.goBack(cmp.Or(o.Phase, definition.MainPhase))
	}
	x.st.place, x.st.Others = place{}, nil
	at = slices.DeleteFunc(at, func(p place) bool { return p.Next == "" })
	if len(at) > 0 {
		x.st.place, x.st.Others = at[0], at[1:]
	}
}

// placeOf returns the place at which a phase failed, for another attempt.
func placeOf(o *outcome) place {
	failed := place{Next: o.Next, Silent: o.Silent}
	return failed.nextAttempt()
}

// places returns the places of the run that have a step.
func (x *execution) places() []place {
	if x.st.Next == "" {
		return x.st.Others
	}
	return append([]place{x.st.place}, x.st.Others...)
}

// rewindTo returns the step to which the run goes back. It refuses a step that the run has not reached.
func (x *execution) rewindTo(id string) (*definition.Step, error) {
	step := x.def.Step(id)
	switch {
	case step == nil:
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the workflow %s has no step %s", x.run.Workflow, id).WithHint("%s", x.stepsToRewind())
	case step.Phase != definition.MainPhase:
		return nil, fermata.Errorf(fermata.CodeIllegalTransition, "the step %s is done when the main steps have ended", id).
			WithHint("name a main step: what is done at the end is then done anew")
	case !x.hasComeTo(step):
		return nil, fermata.Errorf(fermata.CodeIllegalTransition, "the run has not come to the step %s", id).WithHint("%s", x.stepsToRewind())
	}
	return step, nil
}

// hasComeTo reports whether the run has begun a main step, and has not gone back to a step before it since then.
func (x *execution) hasComeTo(step *definition.Step) bool {
	at := x.places()
	switch {
	case x.st.Visits[step.ID] == 0:
		return false
	case x.def.Forks(step.Phase):
		return slices.Contains(x.st.Passed, step.ID) || slices.ContainsFunc(at, func(p place) bool { return p.Next == step.ID })
	default:
		return len(at) == 0 || x.leadsTo(step, at[0])
	}
}

// leadsTo reports whether a path leads from a step to the step of a place. It is true for the same step.
func (x *execution) leadsTo(step *definition.Step, p place) bool {
	at := x.def.Step(p.Next)
	return at != nil && x.def.Reaches(step, at)
}

// stepsToRewind returns a text that names the steps to which the run can go back.
func (x *execution) stepsToRewind() string {
	var all []string
	for i := range x.def.Steps {
		if step := &x.def.Steps[i]; step.Phase == definition.MainPhase && x.hasComeTo(step) {
			all = append(all, step.ID)
		}
	}
	if len(all) == 0 {
		return "it has begun no step"
	}
	return "it can go back to " + strings.Join(all, ", ")
}

// rewind moves the run back to a step, and returns the tasks and questions that it leaves behind. Places stay if no
// path leads to them from the step.
func (x *execution) rewind(tx *store.Tx, t *fermata.Task, step *definition.Step, feedback string) engine.Rewound {
	behind := x.def.Between(step, nil)
	var stay []place
	for _, p := range x.places() {
		if x.leadsTo(step, p) {
			continue
		}
		if row := x.current(p.Next); row != nil && t.PendingQuestionID != "" && row.QuestionID == t.PendingQuestionID {
			// While the run was at this place alone, the run itself waited for the question. The question is asked
			// again, in a task of its own.
			x.cancelRow(tx, row)
			p = p.nextAttempt()
		}
		stay = append(stay, p)
	}
	left := x.dropRows(tx, behind)
	x.st.goBack(definition.MainPhase)
	x.st.Failing, x.st.Before = nil, maps.Clone(x.st.Visits)
	x.st.hide(behind)
	for i := range x.def.Steps {
		if step := &x.def.Steps[i]; step.Phase != definition.MainPhase {
			x.st.hide([]*definition.Step{step})
		}
	}
	x.forgetRounds(step, true)
	x.st.leave()
	x.moveTo(step, behind)
	x.st.Feedback, x.st.Others = feedback, stay
	return left
}

// dropRows cancels the rows of steps, and the rows of all phases after the main one. It returns their tasks and
// questions.
func (x *execution) dropRows(tx *store.Tx, steps []*definition.Step) engine.Rewound {
	var left engine.Rewound
	for _, row := range x.rows {
		step := x.def.Step(row.Step)
		if step == nil || step.Phase == definition.MainPhase && !slices.Contains(steps, step) {
			continue
		}
		if row.QuestionID != "" {
			left.Questions = append(left.Questions, row.QuestionID)
		}
		if !row.State.IsEnded() {
			if row.ChildID != "" {
				left.Tasks = append(left.Tasks, row.ChildID)
			}
			x.cancelRow(tx, row)
		}
	}
	return left
}

// cancelRow cancels a row that has not ended.
func (x *execution) cancelRow(tx *store.Tx, row *fermata.WorkflowStep) {
	if row.State.IsEnded() {
		return
	}
	row.Note = "the run went back"
	row.End(fermata.StepCancelled, tx.Now())
	tx.SaveStep(row)
}

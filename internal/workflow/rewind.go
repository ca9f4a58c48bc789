package workflow

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// Rewind sends a run back to a main step that it has begun. The run may have ended. The work in progress at that step
// and after it is cancelled. Other branches continue.
func (s *Service) Rewind(ctx context.Context, c fermata.Caller, givenID string, request fermata.RunRewind) (*fermata.WorkflowRun, error) {
	id, err := s.changeableRunID(ctx, c, givenID)
	if err != nil {
		return nil, err
	}
	if err := request.Check(); err != nil {
		return nil, err
	}
	_, err = s.e.RewindWith(ctx, c, id, func(tx *store.Tx, t *fermata.Task) (engine.RewindEffects, error) {
		x, err := s.loadForChange(tx, t)
		if err != nil {
			return engine.RewindEffects{}, err
		}
		step, err := x.rewindTarget(request.Step)
		if err != nil {
			return engine.RewindEffects{}, err
		}
		dropped := x.rewind(tx, t, step, request.Feedback)
		dropped.Reason = fmt.Sprintf("%s sent the run back to the step %s", c.Actor().DisplayName(), step.ID)
		if request.Newest {
			if err := x.moveToNewest(tx, c, step); err != nil {
				return dropped, err
			}
		}
		t.Checkpoint = x.st.bytes()
		fields := map[string]any{"workflow": x.run.Workflow, "step": step.ID}
		if request.Feedback != "" {
			fields["feedback"] = request.Feedback
		}
		dropped.Event = &fermata.Event{Type: fermata.EventRunRewound, TaskID: id, RunID: t.RunID, Actor: c.Actor(), Data: encodeJSON(fields)}
		return dropped, nil
	})
	if err != nil {
		return nil, err
	}
	return s.RunDetails(ctx, c, id)
}

// changeableRunID returns the id of a run that the caller may rewind and move.
func (s *Service) changeableRunID(ctx context.Context, c fermata.Caller, givenID string) (string, error) {
	r := s.readerFor(ctx, c)
	id, err := r.FindID("run of a workflow", "tasks", fermata.PrefixTask, givenID)
	if err != nil {
		return "", err
	}
	run, err := r.WorkflowRun(id)
	if err != nil {
		return "", err
	}
	return id, c.CheckPermission(fermata.ToRewindWorkflow, fermata.InProject(projectOrDefault(run.Project)))
}

// loadForChange loads a run in the transaction that changes its position.
func (s *Service) loadForChange(tx *store.Tx, t *fermata.Task) (*execution, error) {
	run, err := tx.WorkflowRun(t.ID)
	if err != nil {
		return nil, err
	}
	x := &execution{s: s, run: run, now: tx.Now()}
	if x.def, err = s.pinnedDefinition(tx.Reader, run); err != nil {
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
	x.restorePositions(t.State.IsEnded())
	return x, nil
}

// restorePositions sets the positions at which the run is, or at which it would continue if it was retried. A run whose
// main steps failed is at those positions, also while it does its on_failure steps.
func (x *execution) restorePositions(ended bool) {
	var positions []position
	switch o := x.st.Outcome; {
	case !o.isDone() && (ended || o.Phase == definition.MainPhase):
		positions = append([]position{retryPosition(o)}, o.Others...)
	default:
		positions = append([]position{x.st.position}, x.st.Others...)
		for i := range positions {
			if ended {
				positions[i] = positions[i].nextAttempt()
			}
		}
	}
	if failed := x.st.Failing; failed != nil {
		positions = append(append(positions, retryPosition(failed)), failed.Others...)
	}
	if o := x.st.Outcome; ended && o != nil {
		x.st.goBack(cmp.Or(o.Phase, definition.MainPhase))
	}
	x.st.position, x.st.Others = position{}, nil
	positions = slices.DeleteFunc(positions, func(p position) bool { return p.Next == "" })
	if len(positions) > 0 {
		x.st.position, x.st.Others = positions[0], positions[1:]
	}
}

// retryPosition returns the position at which a phase failed, for another attempt.
func retryPosition(o *outcome) position {
	failed := position{Next: o.Next, TimedOutStep: o.TimedOutStep}
	return failed.nextAttempt()
}

// positions returns the positions of the run that have a step.
func (x *execution) positions() []position {
	if x.st.Next == "" {
		return x.st.Others
	}
	return append([]position{x.st.position}, x.st.Others...)
}

// rewindTarget returns the step to which the run goes back. It refuses a step that the run has not reached.
func (x *execution) rewindTarget(id string) (*definition.Step, error) {
	step := x.def.Step(id)
	switch {
	case step == nil:
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the workflow %s has no step %s", x.run.Workflow, id).WithHint("%s", x.rewindHint())
	case step.Phase != definition.MainPhase:
		return nil, fermata.Errorf(fermata.CodeIllegalTransition, "the step %s runs only after the main steps have ended", id).
			WithHint("name a main step: the steps after the main steps then run again, too")
	case !x.hasReached(step):
		return nil, fermata.Errorf(fermata.CodeIllegalTransition, "the run has not come to the step %s", id).WithHint("%s", x.rewindHint())
	}
	return step, nil
}

// hasReached reports whether the run has begun a main step, and has not gone back to a step before it since then.
func (x *execution) hasReached(step *definition.Step) bool {
	positions := x.positions()
	switch {
	case x.st.Visits[step.ID] == 0:
		return false
	case x.def.Forks(step.Phase):
		return slices.Contains(x.st.Passed, step.ID) || slices.ContainsFunc(positions, func(p position) bool { return p.Next == step.ID })
	default:
		return len(positions) == 0 || x.leadsTo(step, positions[0])
	}
}

// leadsTo reports whether a path leads from a step to the step of a position. It is true for the same step.
func (x *execution) leadsTo(step *definition.Step, p position) bool {
	target := x.def.Step(p.Next)
	return target != nil && x.def.Reaches(step, target)
}

// rewindHint returns a text that names the steps to which the run can go back.
func (x *execution) rewindHint() string {
	var all []string
	for i := range x.def.Steps {
		if step := &x.def.Steps[i]; step.Phase == definition.MainPhase && x.hasReached(step) {
			all = append(all, step.ID)
		}
	}
	if len(all) == 0 {
		return "it has begun no step"
	}
	return "it can go back to " + strings.Join(all, ", ")
}

// wentBack is the note of steps that were under way when the run went back.
const wentBack = "the run went back"

// rewind moves the run back to a step, and returns the tasks and questions that it leaves behind. Positions stay if
// no path leads to them from the step.
func (x *execution) rewind(tx *store.Tx, t *fermata.Task, step *definition.Step, feedback string) engine.RewindEffects {
	stepsAfter := x.def.Between(step, nil)
	var remainingPositions []position
	for _, p := range x.positions() {
		if x.leadsTo(step, p) {
			continue
		}
		if row := x.currentRow(p.Next); row != nil && t.PendingQuestionID != "" && row.QuestionID == t.PendingQuestionID {
			// The run itself waits for this question, because it had no other position when it asked. The question is
			// asked again, in a child task.
			x.cancelRow(row, wentBack, tx.Now())
			p = p.nextAttempt()
		}
		remainingPositions = append(remainingPositions, p)
	}
	dropped := x.dropRows(tx.Now(), stepsAfter)
	x.st.goBack(definition.MainPhase)
	x.st.Failing, x.st.UncountedVisits = nil, maps.Clone(x.st.Visits)
	x.st.hide(stepsAfter)
	for i := range x.def.Steps {
		if step := &x.def.Steps[i]; step.Phase != definition.MainPhase {
			x.st.hide([]*definition.Step{step})
		}
	}
	x.forgetRounds(step, true)
	x.st.leave()
	x.moveTo(step, stepsAfter)
	x.st.Feedback, x.st.Others = feedback, remainingPositions
	for _, row := range x.dirty {
		tx.SaveStep(row)
	}
	return dropped
}

// dropRows cancels the rows of steps, and the rows of all phases after the main one. It returns their tasks and
// questions.
func (x *execution) dropRows(now time.Time, steps []*definition.Step) engine.RewindEffects {
	var dropped engine.RewindEffects
	for _, row := range x.rows {
		step := x.def.Step(row.Step)
		if step == nil || step.Phase == definition.MainPhase && !slices.Contains(steps, step) {
			continue
		}
		if row.QuestionID != "" {
			dropped.Questions = append(dropped.Questions, row.QuestionID)
		}
		if !row.State.IsEnded() {
			if row.ChildID != "" {
				dropped.Tasks = append(dropped.Tasks, row.ChildID)
			}
			x.cancelRow(row, wentBack, now)
		}
	}
	return dropped
}

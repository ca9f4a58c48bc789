package workflow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// Move moves a run to the newest definition of its workflow. The steps that it has begun must be the same in the newest
// definition, except for those that it will do again. A run that has ended continues only when it is retried.
func (s *Service) Move(ctx context.Context, c fermata.Caller, givenID string) (*fermata.WorkflowRun, error) {
	id, err := s.changeableRunID(ctx, c, givenID)
	if err != nil {
		return nil, err
	}
	_, err = engine.Write(ctx, s.e, c, fermata.ToRewindWorkflow, func(tx *store.Tx) (struct{}, error) {
		t, err := tx.Task(id)
		if err != nil {
			return struct{}{}, err
		}
		if err := checkMovable(t); err != nil {
			return struct{}{}, err
		}
		x, err := s.loadForChange(tx, t)
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, x.moveToNewest(tx, c, nil)
	})
	if err != nil {
		return nil, err
	}
	return s.RunDetails(ctx, c, id)
}

// checkMovable refuses to move a run that is in progress, and one that is done.
func checkMovable(t *fermata.Task) error {
	if t.State == fermata.TaskInProgress {
		return fermata.Errorf(fermata.CodeIllegalTransition, "the run is at work").WithHint("move it when it waits")
	}
	if t.State == fermata.TaskDone {
		return fermata.Errorf(fermata.CodeIllegalTransition, "the run is done").
			WithHint("send it back to a step with the newest definition: fermata workflow rewind %s STEP --newest", t.ID)
	}
	return nil
}

// moveToNewest pins the run to the newest definition of its workflow. backTo is the step to which the run has just gone
// back, or nil. If no step stays done, the run begins the newest definition from its start.
func (x *execution) moveToNewest(tx *store.Tx, c fermata.Caller, backTo *definition.Step) error {
	w, err := tx.Workflow(x.run.Workflow)
	if err != nil {
		return err
	}
	if w.Project != projectOrDefault(x.run.Project) {
		return fermata.Errorf(fermata.CodeIllegalTransition, "the workflow %s is in another project now", w.Name).WithHint("start a new run there")
	}
	if w.Hash == x.run.Hash {
		return nil
	}
	newest, err := x.s.loadPinned(tx.Reader, w.Name, w.Hash)
	if err != nil {
		return err
	}
	m := x.moveOf(newest, backTo)
	if problems := m.problems(); len(problems) > 0 {
		return x.errIncompatible(problems, x.stepToGoBackTo(m))
	}
	if m.keepsNothing() {
		feedback := x.st.Feedback
		x.st.enterPhase(newest, definition.MainPhase)
		x.st.Feedback = feedback
	}
	inputs, err := checkInputs(newest, decodeObject(x.run.Inputs))
	if refusal, ok := errors.AsType[*fermata.Error](err); ok {
		return refusal.WithHint("give a new input a default, or do not require it; or start a new run")
	}
	if err != nil {
		return err
	}
	x.run.Hash, x.run.Inputs = w.Hash, encodeJSON(inputs)
	tx.UpdateWorkflowRun(x.run)
	tx.Append(&fermata.Event{
		Type: fermata.EventRunMoved, TaskID: x.run.ID, Actor: c.Actor(), Data: encodeJSON(map[string]any{"workflow": w.Name, "hash": w.Hash}),
	})
	return nil
}

// move is a change of a run to the newest definition.
//
// The newest definition must not change a step that the run has begun and will not do again, and must not have a new one
// at a place that the run has passed.
type move struct {
	x      *execution
	newest *definition.Workflow
	// backTo is the step to which the run goes back before, or nil.
	backTo *definition.Step
	// currentSteps holds the steps at which the run is. The value says whether the step will be done again.
	currentSteps map[string]bool
	// isHidden reports whether the run has not begun a step, or has gone back to a step before it.
	isHidden func(step string) bool
	// isInMainPhase says that the run does its main steps.
	isInMainPhase bool
}

func (x *execution) moveOf(newest *definition.Workflow, backTo *definition.Step) move {
	m := move{x, newest, backTo, map[string]bool{}, x.isHidden, x.phase() == definition.MainPhase}
	for _, p := range x.positions() {
		hasFailed := p.WaitsFor == waitForRetry || p.WaitsFor == waitForRemedy
		m.currentSteps[p.Next] = p.Redo || hasFailed || x.isHidden(p.Next)
	}
	return m
}

// moveAfter returns the same move for the run as it is after it has gone back to a step.
func (m move) moveAfter(step *definition.Step) move {
	again := map[string]bool{}
	for _, each := range m.x.def.Between(step, nil) {
		again[each.ID] = true
	}
	currentSteps := map[string]bool{step.ID: true}
	for id, isRedone := range m.currentSteps {
		if !again[id] && m.x.def.Step(id) != nil && m.x.def.Step(id).Phase == definition.MainPhase {
			currentSteps[id] = isRedone
		}
	}
	return move{m.x, m.newest, step, currentSteps, func(id string) bool { return again[id] || m.isHidden(id) }, true}
}

// stepToGoBackTo returns the last step from which the run can go on with the newest definition, or "" if there is none.
func (x *execution) stepToGoBackTo(m move) string {
	for i := len(x.def.Steps) - 1; i >= 0; i-- {
		step := &x.def.Steps[i]
		if step.Phase == definition.MainPhase && x.hasReached(step) && len(m.moveAfter(step).problems()) == 0 {
			return step.ID
		}
	}
	return ""
}

// keepsNothing reports whether the run goes back so far that no main step stays done.
func (m move) keepsNothing() bool {
	if m.backTo == nil || m.newest.Step(m.backTo.ID) == nil {
		return false
	}
	return !slices.ContainsFunc(m.x.def.Steps, func(step definition.Step) bool {
		return step.Phase == definition.MainPhase && !m.currentSteps[step.ID] && !m.isHidden(step.ID)
	})
}

// problems returns the reasons why the run cannot continue with the newest definition.
func (m move) problems() []string {
	if m.keepsNothing() {
		return nil
	}
	if m.x.def.Forks(definition.MainPhase) != m.newest.Forks(definition.MainPhase) {
		return []string{"steps run side by side in only one of the two definitions"}
	}
	var problems []string
	kept, passed := map[string]bool{}, map[string]bool{}
	for i := range m.x.def.Steps {
		step := &m.x.def.Steps[i]
		isOver := step.Phase != definition.MainPhase && m.isInMainPhase
		if m.currentSteps[step.ID] || m.isHidden(step.ID) || isOver {
			continue
		}
		_, isAt := m.currentSteps[step.ID]
		kept[step.ID], passed[step.ID] = true, !isAt
		switch other := m.newest.Step(step.ID); {
		case other == nil:
			problems = append(problems, fmt.Sprintf("steps.%s is gone there, and the run has begun it", step.ID))
		case !step.Equal(other):
			problems = append(problems, fmt.Sprintf("steps.%s is another one there, and the run has begun it", step.ID))
		}
	}
	problems = append(problems, m.unreachable(kept, passed)...)
	slices.Sort(problems)
	return problems
}

// unreachable returns the main steps of the newest definition that the run would never reach, and the current steps at which
// it could not continue. kept holds the steps that must not change, and passed says which of them the run has passed.
func (m move) unreachable(kept, passed map[string]bool) []string {
	var problems []string
	missingSteps := maps.Clone(m.currentSteps)
	for i := range m.newest.Steps {
		step := &m.newest.Steps[i]
		_, isAt := m.currentSteps[step.ID]
		delete(missingSteps, step.ID)
		if step.Phase != definition.MainPhase || kept[step.ID] {
			continue
		}
		isReady := !slices.ContainsFunc(step.Needs, func(id string) bool { return !passed[id] })
		switch before := m.x.def.Step(step.ID); {
		case isReady && !isAt && before == nil:
			problems = append(problems, fmt.Sprintf("steps.%s is new, and the run has passed where it begins", step.ID))
		case isReady && !isAt && !m.needsGoneStep(before):
			problems = append(problems, fmt.Sprintf("steps.%s begins at another place there, and the run has passed it", step.ID))
		case isAt && !isReady:
			problems = append(problems, fmt.Sprintf("steps.%s needs a step that the run has not done", step.ID))
		}
	}
	for id := range missingSteps {
		if !kept[id] {
			problems = append(problems, fmt.Sprintf("steps.%s, where the run goes on, is not there", id))
		}
	}
	return problems
}

// needsGoneStep reports whether a step needs a step that the newest definition does not have. The step that is
// gone is reported instead.
func (m move) needsGoneStep(step *definition.Step) bool {
	return slices.ContainsFunc(step.Needs, func(id string) bool { return m.newest.Step(id) == nil })
}

// isHidden reports whether expressions cannot read the output of a step: the run has not begun the step, or has gone
// back to a step before it.
func (x *execution) isHidden(step string) bool { return x.st.Visits[step] <= x.st.Hidden[step] }

// errIncompatible returns the refusal to move a run, with its reasons. The argument step is the step to which the run can go
// back to go on with the newest definition, or "".
func (x *execution) errIncompatible(problems []string, step string) error {
	refusal := fermata.Errorf(fermata.CodeIllegalTransition, "the run cannot go on with the newest definition: %s", strings.Join(problems, "; "))
	if step == "" {
		return refusal.WithHint("start a new run: fermata workflow run %s", x.run.Workflow)
	}
	return refusal.WithHint("send it back to the step %s with the newest definition: fermata workflow rewind %s %s --newest; or start a new run", step, x.run.ID, step)
}

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
		return struct{}{}, x.moveToNewest(tx, c)
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

// moveToNewest pins the run to the newest definition of its workflow.
func (x *execution) moveToNewest(tx *store.Tx, c fermata.Caller) error {
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
	if err := x.checkCompatible(newest); err != nil {
		return err
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

// checkCompatible returns an error if the newest definition changes a step that the run has begun and will not do
// again. It also returns one for a new step at a place that the run has already passed.
func (x *execution) checkCompatible(newest *definition.Workflow) error {
	if x.def.Forks(definition.MainPhase) != newest.Forks(definition.MainPhase) {
		return errIncompatible([]string{"steps run side by side in only one of the two definitions"})
	}
	// currentSteps holds the steps at which the run is. The value says whether the step will be done again.
	currentSteps := map[string]bool{}
	for _, p := range x.positions() {
		hasFailed := p.WaitsFor == waitForRetry || p.WaitsFor == waitForRemedy
		currentSteps[p.Next] = p.Redo || hasFailed || x.isHidden(p.Next)
	}
	var problems []string
	kept, passed := map[string]bool{}, map[string]bool{}
	for i := range x.def.Steps {
		step := &x.def.Steps[i]
		isOver := step.Phase != definition.MainPhase && x.phase() == definition.MainPhase
		if currentSteps[step.ID] || x.isHidden(step.ID) || isOver {
			continue
		}
		_, isAt := currentSteps[step.ID]
		kept[step.ID], passed[step.ID] = true, !isAt
		if other := newest.Step(step.ID); other == nil || !step.Equal(other) {
			problems = append(problems, fmt.Sprintf("steps.%s is another one there, or none, and the run has begun it", step.ID))
		}
	}
	problems = append(problems, moveProblems(newest, currentSteps, kept, passed)...)
	if len(problems) > 0 {
		return errIncompatible(problems)
	}
	return nil
}

// moveProblems returns the reasons why a run cannot continue with the newest definition: main steps that it would never
// reach, and current steps at which it could not continue. The run is at the steps in currentSteps. kept holds the
// steps that must not change, and passed says which of them the run has passed.
func moveProblems(newest *definition.Workflow, currentSteps, kept, passed map[string]bool) []string {
	var problems []string
	missingSteps := maps.Clone(currentSteps)
	for i := range newest.Steps {
		step := &newest.Steps[i]
		_, isAt := currentSteps[step.ID]
		delete(missingSteps, step.ID)
		if step.Phase != definition.MainPhase || kept[step.ID] {
			continue
		}
		isReady := !slices.ContainsFunc(step.Needs, func(id string) bool { return !passed[id] })
		switch {
		case isReady && !isAt:
			problems = append(problems, fmt.Sprintf("steps.%s is new, and the run has passed where it begins", step.ID))
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

// isHidden reports whether expressions cannot read the output of a step: the run has not begun the step, or has gone
// back to a step before it.
func (x *execution) isHidden(step string) bool { return x.st.Visits[step] <= x.st.Hidden[step] }

// errIncompatible returns the refusal to move a run, with its reasons.
func errIncompatible(problems []string) error {
	slices.Sort(problems)
	return fermata.Errorf(fermata.CodeIllegalTransition, "the run cannot go on with the newest definition: %s", strings.Join(problems, "; ")).
		WithHint("send it back to that step, or to one before it, with the newest definition; or start a new run")
}

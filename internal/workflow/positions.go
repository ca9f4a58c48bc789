package workflow

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// errParked says that the current position of the run waits, while the run continues at others.
var errParked = errors.New("the position waits")

// parkedPositions holds the positions of a run that wait, by their step. The value is the time at which the position
// continues by itself, or nil if there is none.
type parkedPositions map[string]*time.Time

// isAlone reports whether the run is at one position only. The number of positions changes only when a step ends.
func (x *execution) isAlone() bool { return len(x.st.Others) == 0 }

// park stops the current position of the run until one of the tasks that fn returns has ended, or until the given time.
// If until is nil, there is no such time. fn runs in the transaction that stops the position.
func (x *execution) park(ctx context.Context, until *time.Time, fn func(h *engine.LeasedRun) ([]string, error)) error {
	if x.isAlone() {
		return x.stop(ctx, func(h *engine.LeasedRun) error {
			taskIDs, err := fn(h)
			if err != nil {
				return err
			}
			return h.Block(taskIDs, until)
		})
	}
	err := x.commit(ctx, func(h *engine.LeasedRun) (err error) {
		x.st.TaskIDs, err = fn(h)
		return err
	})
	if err != nil {
		return err
	}
	x.parked[x.st.Next] = until
	return errParked
}

// parkOn does the same as [execution.park] for tasks that exist already.
func (x *execution) parkOn(ctx context.Context, until *time.Time, taskIDs ...string) error {
	return x.park(ctx, until, func(*engine.LeasedRun) ([]string, error) { return taskIDs, nil })
}

// findParked finds the positions of the run that still wait.
func (x *execution) findParked(ctx context.Context) error {
	x.parked = parkedPositions{}
	if x.isAlone() {
		return nil
	}
	all := append(slices.Clone(x.st.Others), x.st.position)
	var ids []string
	for i := range all {
		ids = append(ids, all[i].TaskIDs...)
	}
	tasks, err := x.s.db.Reader(ctx, x.claim.Task.WorkspaceID).TasksByID(ids)
	if err != nil {
		return err
	}
	open := map[string]bool{}
	for _, t := range tasks {
		open[t.ID] = !t.State.IsEnded()
	}
	for i := range all {
		p, until := &all[i], x.dueTime(&all[i])
		if len(p.TaskIDs) > 0 && !slices.ContainsFunc(p.TaskIDs, func(id string) bool { return !open[id] }) || until != nil && x.now.Before(*until) {
			x.parked[p.Next] = until
		}
	}
	return nil
}

// dueTime returns the time for which a position waits, or nil if it waits for none.
func (x *execution) dueTime(p *position) *time.Time {
	step := p.Next
	if p.TimedOutStep != "" {
		step = p.TimedOutStep + timeoutSuffix
	}
	if row := x.currentRow(step); row != nil && (p.WaitsFor == waitForTime || p.WaitsFor == waitForRetry) {
		return row.Until
	}
	return nil
}

// pickPosition makes a position that can continue the current one. It reports whether there is such a position.
func (x *execution) pickPosition() bool {
	if !x.isParked(x.st.Next) {
		return true
	}
	for i := range x.st.Others {
		if !x.isParked(x.st.Others[i].Next) {
			x.st.position, x.st.Others[i] = x.st.Others[i], x.st.position
			return true
		}
	}
	return false
}

// pickPositionAt makes the position at a step the current one.
func (x *execution) pickPositionAt(step string) {
	delete(x.parked, step)
	if index := slices.IndexFunc(x.st.Others, func(p position) bool { return p.Next == step }); index >= 0 {
		x.st.position, x.st.Others[index] = x.st.Others[index], x.st.position
	}
}

// stopParked stops the run until one of its positions can continue.
func (x *execution) stopParked(ctx context.Context) error {
	taskIDs := x.awaitedTaskIDs()
	var first *time.Time
	for _, until := range x.parked {
		if until != nil && (first == nil || until.Before(*first)) {
			first = until
		}
	}
	return x.stop(ctx, func(h *engine.LeasedRun) error { return h.Block(taskIDs, first) })
}

// passStep moves the current position of the run past a step.
func (x *execution) passStep(step *definition.Step) {
	x.st.leave()
	if !x.def.Forks(step.Phase) {
		x.st.Next = ""
		if next := x.def.Dependents(step); len(next) > 0 {
			x.st.Next = next[0].ID
		}
		return
	}
	x.st.Passed = append(slices.Clip(x.st.Passed), step.ID)
	x.beginBranches(x.def.Dependents(step))
}

// beginBranches replaces the current position of the run by one position for each step that can begin.
func (x *execution) beginBranches(steps []*definition.Step) {
	var positions []position
	for _, step := range steps {
		if x.canBegin(step) {
			positions = append(positions, position{Next: step.ID})
		}
	}
	positions = append(positions, x.st.Others...)
	x.st.position, x.st.Others = position{}, nil
	if len(positions) > 0 {
		x.st.position, x.st.Others = positions[0], positions[1:]
	}
}

// canBegin reports whether the run has passed all steps that a step needs, and has not passed the step itself.
func (x *execution) canBegin(step *definition.Step) bool {
	if x.isFailingFast() || slices.Contains(x.st.Passed, step.ID) {
		return false
	}
	return !slices.ContainsFunc(step.Needs, func(id string) bool { return !slices.Contains(x.st.Passed, id) })
}

// isFailingFast reports whether a step failed and the parallel steps must stop: the definition has fail_fast, or a person
// ended the run.
func (x *execution) isFailingFast() bool {
	return x.st.Failing != nil && (x.def.FailFast || x.st.Failing.IsAborted)
}

// failBranch ends the current position in a phase that forks. The other positions continue, unless they must stop. In
// that case failBranch returns them, and the caller cancels them in the transaction that records the failure.
func (x *execution) failBranch(o *outcome) (cancelled []position) {
	x.st.Failing = o
	if !x.isFailingFast() {
		x.beginBranches(nil)
		return nil
	}
	var remainingPositions []position
	for i := range x.st.Others {
		p := &x.st.Others[i]
		if x.activeCalls[p.Next] != nil {
			remainingPositions = append(remainingPositions, *p) // the result of a tool is known only when it returns
			continue
		}
		delete(x.parked, p.Next)
		x.queuedCalls = slices.DeleteFunc(x.queuedCalls, func(c *stepCalls) bool { return c.step.ID == p.Next })
		cancelled = append(cancelled, *p)
		o.Others = append(o.Others, p.nextAttempt())
	}
	x.st.Others = remainingPositions
	x.beginBranches(nil)
	return cancelled
}

// cancelPosition ends the current position of the run because a parallel step failed.
func (x *execution) cancelPosition(ctx context.Context) error {
	p, o := x.st.position, x.st.Failing
	o.Others = append(slices.Clip(o.Others), p.nextAttempt())
	x.beginBranches(nil)
	return x.commit(ctx, func(h *engine.LeasedRun) error {
		return x.cancelPositions(h, []position{p}, o.cancelReason())
	})
}

// cancelPositions cancels the tasks and steps that are under way at positions of the run.
func (x *execution) cancelPositions(h *engine.LeasedRun, positions []position, reason string) error {
	for i := range positions {
		p := &positions[i]
		if err := h.CancelChildren(p.TaskIDs, reason); err != nil {
			return err
		}
		if row := x.currentRow(p.Next); row != nil {
			x.cancelRow(row, reason, h.Tx.Now())
			x.cancelItems(row, reason, h.Tx.Now())
		}
	}
	return nil
}

// cancelRow ends a row as cancelled if it has not ended.
func (x *execution) cancelRow(row *fermata.WorkflowStep, reason string, now time.Time) {
	if row.State.IsEnded() {
		return
	}
	row.Note = reason
	row.End(fermata.StepCancelled, now)
	x.touch(row)
}

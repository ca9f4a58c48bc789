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

// errParked says that the current place of the run waits, while the run continues at others.
var errParked = errors.New("the place waits")

// parkedPlaces holds the places of a run that wait, by their step. The value is the time at which the place continues
// by itself, or nil if there is none.
type parkedPlaces map[string]*time.Time

// isAlone reports whether the run is at one place only. Only the end of a step changes that.
func (x *execution) isAlone() bool { return len(x.st.Others) == 0 }

// park stops the current place of the run until one of the tasks that fn returns has ended, and at most until a time.
// nil means no time limit. fn runs in the same transaction.
func (x *execution) park(ctx context.Context, until *time.Time, fn func(h *engine.LeasedRun) ([]string, error)) error {
	if x.isAlone() {
		return x.stop(ctx, func(h *engine.LeasedRun) error {
			on, err := fn(h)
			if err != nil {
				return err
			}
			return h.Block(on, until)
		})
	}
	err := x.commit(ctx, func(h *engine.LeasedRun) (err error) {
		x.st.On, err = fn(h)
		return err
	})
	if err != nil {
		return err
	}
	x.parked[x.st.Next] = until
	return errParked
}

// parkOn does the same as [execution.park] for tasks that exist already.
func (x *execution) parkOn(ctx context.Context, until *time.Time, on ...string) error {
	return x.park(ctx, until, func(*engine.LeasedRun) ([]string, error) { return on, nil })
}

// findParked finds the places of the run that still wait.
func (x *execution) findParked(ctx context.Context) error {
	x.parked = parkedPlaces{}
	if x.isAlone() {
		return nil
	}
	all := append(slices.Clone(x.st.Others), x.st.place)
	var ids []string
	for i := range all {
		ids = append(ids, all[i].On...)
	}
	tasks, err := x.s.db.In(ctx, x.claim.Task.WorkspaceID).TasksByID(ids)
	if err != nil {
		return err
	}
	open := map[string]bool{}
	for _, t := range tasks {
		open[t.ID] = !t.State.IsEnded()
	}
	for i := range all {
		p, until := &all[i], x.dueTime(&all[i])
		if len(p.On) > 0 && !slices.ContainsFunc(p.On, func(id string) bool { return !open[id] }) || until != nil && x.now.Before(*until) {
			x.parked[p.Next] = until
		}
	}
	return nil
}

// dueTime returns the time for which a place waits, or nil if it waits for none.
func (x *execution) dueTime(p *place) *time.Time {
	step := p.Next
	if p.Silent != "" {
		step = p.Silent + timeoutSuffix
	}
	if row := x.current(step); row != nil && (p.Waits == waitsTime || p.Waits == waitsRetry) {
		return row.Until
	}
	return nil
}

// pickPlace makes a place that can continue the current one. It reports whether there is such a place.
func (x *execution) pickPlace() bool {
	if _, waits := x.parked[x.st.Next]; !waits {
		return true
	}
	for i := range x.st.Others {
		if _, waits := x.parked[x.st.Others[i].Next]; !waits {
			x.st.place, x.st.Others[i] = x.st.Others[i], x.st.place
			return true
		}
	}
	return false
}

// pickPlaceAt makes the place at a step the current one.
func (x *execution) pickPlaceAt(step string) {
	delete(x.parked, step)
	if at := slices.IndexFunc(x.st.Others, func(p place) bool { return p.Next == step }); at >= 0 {
		x.st.place, x.st.Others[at] = x.st.Others[at], x.st.place
	}
}

// stopParked stops the run until one of its places can continue.
func (x *execution) stopParked(ctx context.Context) error {
	on := slices.Clone(x.st.On)
	for i := range x.st.Others {
		on = append(on, x.st.Others[i].On...)
	}
	var first *time.Time
	for _, until := range x.parked {
		if until != nil && (first == nil || until.Before(*first)) {
			first = until
		}
	}
	return x.stop(ctx, func(h *engine.LeasedRun) error { return h.Block(on, first) })
}

// passStep moves the current place of the run past a step.
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

// beginBranches replaces the current place of the run by one place for each step that can begin.
func (x *execution) beginBranches(steps []*definition.Step) {
	var at []place
	for _, step := range steps {
		if x.canBegin(step) {
			at = append(at, place{Next: step.ID})
		}
	}
	at = append(at, x.st.Others...)
	x.st.place, x.st.Others = place{}, nil
	if len(at) > 0 {
		x.st.place, x.st.Others = at[0], at[1:]
	}
}

// canBegin reports whether the run has passed all steps that a step needs, and has not passed the step itself.
func (x *execution) canBegin(step *definition.Step) bool {
	if x.isFailingFast() || slices.Contains(x.st.Passed, step.ID) {
		return false
	}
	return !slices.ContainsFunc(step.Needs, func(id string) bool { return !slices.Contains(x.st.Passed, id) })
}

// isFailingFast reports whether a step failed and the parallel steps must stop.
func (x *execution) isFailingFast() bool { return x.st.Failing != nil && x.def.FailFast }

// failBranch ends the current place in a phase that forks. The other places continue, unless the definition has
// fail_fast. In that case failBranch returns them, and the caller cancels them in the transaction that records the
// failure.
func (x *execution) failBranch(o *outcome) (cancelled []place) {
	x.st.Failing = o
	if !x.def.FailFast {
		x.beginBranches(nil)
		return nil
	}
	var stay []place
	for i := range x.st.Others {
		p := &x.st.Others[i]
		if x.calling[p.Next] != nil {
			stay = append(stay, *p) // the result of a tool is known only when it returns
			continue
		}
		delete(x.parked, p.Next)
		x.queued = slices.DeleteFunc(x.queued, func(c *calls) bool { return c.step.ID == p.Next })
		cancelled = append(cancelled, *p)
		o.Others = append(o.Others, p.nextAttempt())
	}
	x.st.Others = stay
	x.beginBranches(nil)
	return cancelled
}

// cancelPlace ends the current place of the run because a parallel step failed.
func (x *execution) cancelPlace(ctx context.Context) error {
	p, o := x.st.place, x.st.Failing
	o.Others = append(slices.Clip(o.Others), p.nextAttempt())
	x.beginBranches(nil)
	return x.commit(ctx, func(h *engine.LeasedRun) error { return x.cancelPlaces(h, []place{p}, "the step "+o.Step+" failed") })
}

// cancelPlaces cancels the tasks and steps that are under way at places of the run.
func (x *execution) cancelPlaces(h *engine.LeasedRun, places []place, why string) error {
	for i := range places {
		p := &places[i]
		for _, id := range p.On {
			if err := h.Cancel(id, why); err != nil {
				return err
			}
		}
		row := x.current(p.Next)
		if row == nil {
			continue
		}
		rows := []*fermata.WorkflowStep{row}
		for _, item := range x.items(row) {
			rows = append(rows, item)
		}
		for _, row := range rows {
			if !row.State.IsEnded() {
				row.Note = why
				row.End(fermata.StepCancelled, h.Tx.Now())
				x.touch(row)
			}
		}
	}
	return nil
}

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

// errAsleep says that the present place of the run waits, and that the run is at others.
var errAsleep = errors.New("the place waits")

// asleep are the places that wait in this process, by their step, and the instants at which they go on by themselves; nil for none.
type asleep map[string]*time.Time

// isAlone reports whether the run is at one place only. It stays so until a step ends.
func (x *execution) isAlone() bool { return len(x.st.Others) == 0 }

// sleep stops the present place of the run until one of the tasks has ended, and at most until an instant; nil is for ever. The
// function is part of the same transaction, and returns the tasks.
func (x *execution) sleep(ctx context.Context, until *time.Time, fn func(h *engine.Held) ([]string, error)) error {
	if x.isAlone() {
		return x.stop(ctx, func(h *engine.Held) error {
			on, err := fn(h)
			if err != nil {
				return err
			}
			return h.Block(on, until)
		})
	}
	err := x.commit(ctx, func(h *engine.Held) (err error) {
		x.st.On, err = fn(h)
		return err
	})
	if err != nil {
		return err
	}
	x.asleep[x.st.Next] = until
	return errAsleep
}

// sleepOn is sleep where the tasks are known, or there are none.
func (x *execution) sleepOn(ctx context.Context, until *time.Time, on ...string) error {
	return x.sleep(ctx, until, func(*engine.Held) ([]string, error) { return on, nil })
}

// lookAround notes which places of the run still wait.
func (x *execution) lookAround(ctx context.Context) error {
	x.asleep = asleep{}
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
		open[t.ID] = !t.State.Ended()
	}
	for i := range all {
		p, until := &all[i], x.until(&all[i])
		if len(p.On) > 0 && !slices.ContainsFunc(p.On, func(id string) bool { return !open[id] }) || until != nil && x.now.Before(*until) {
			x.asleep[p.Next] = until
		}
	}
	return nil
}

// until is the instant for which a place waits; nil for none.
func (x *execution) until(p *place) *time.Time {
	step := p.Next
	if p.Silent != "" {
		step = p.Silent + timeoutSuffix
	}
	if row := x.current(step); row != nil && (p.Waits == waitsTime || p.Waits == waitsRetry) {
		return row.Until
	}
	return nil
}

// turn makes a place that can go on the present one, and reports whether there is one.
func (x *execution) turn() bool {
	if _, waits := x.asleep[x.st.Next]; !waits {
		return true
	}
	for i := range x.st.Others {
		if _, waits := x.asleep[x.st.Others[i].Next]; !waits {
			x.st.place, x.st.Others[i] = x.st.Others[i], x.st.place
			return true
		}
	}
	return false
}

// turnTo makes the place at a step the present one.
func (x *execution) turnTo(step string) {
	delete(x.asleep, step)
	if at := slices.IndexFunc(x.st.Others, func(p place) bool { return p.Next == step }); at >= 0 {
		x.st.place, x.st.Others[at] = x.st.Others[at], x.st.place
	}
}

// rest stops the run, all of whose places wait.
func (x *execution) rest(ctx context.Context) error {
	on := slices.Clone(x.st.On)
	for i := range x.st.Others {
		on = append(on, x.st.Others[i].On...)
	}
	var first *time.Time
	for _, until := range x.asleep {
		if until != nil && (first == nil || until.Before(*first)) {
			first = until
		}
	}
	return x.stop(ctx, func(h *engine.Held) error { return h.Block(on, first) })
}

// pass goes on behind a step.
func (x *execution) pass(step *definition.Step) {
	x.st.leave()
	if !x.def.Forks(step.Phase) {
		x.st.Next = ""
		if next := x.def.Dependents(step); len(next) > 0 {
			x.st.Next = next[0].ID
		}
		return
	}
	x.st.Passed = append(slices.Clip(x.st.Passed), step.ID)
	x.branch(x.def.Dependents(step))
}

// branch puts the run at those of the steps that can begin, in place of the present place.
func (x *execution) branch(steps []*definition.Step) {
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

// canBegin reports whether everything is behind the run that a step needs, and the step is not.
func (x *execution) canBegin(step *definition.Step) bool {
	if x.st.Failing != nil && x.def.FailFast || slices.Contains(x.st.Passed, step.ID) {
		return false
	}
	return !slices.ContainsFunc(step.Needs, func(id string) bool { return !slices.Contains(x.st.Passed, id) })
}

// fails ends the present place of a list that forks. The others go on, unless the definition says to cancel them; the places that
// it returns are to be cancelled with the commit.
func (x *execution) fails(o *outcome) (cancelled []place) {
	x.st.Failing = o
	if !x.def.FailFast {
		x.branch(nil)
		return nil
	}
	var stay []place
	for i := range x.st.Others {
		p := &x.st.Others[i]
		if x.calls[p.Next] {
			stay = append(stay, *p) // what a tool did is known when it returns
			continue
		}
		delete(x.asleep, p.Next)
		cancelled = append(cancelled, *p)
		o.Others = append(o.Others, p.again())
	}
	x.st.Others = stay
	x.branch(nil)
	return cancelled
}

// cancel ends what is under way at places of the run.
func (x *execution) cancel(h *engine.Held, places []place, why string) error {
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
			if !row.State.Ended() {
				row.Note = why
				row.End(fermata.StepCancelled, h.Tx.Now())
				x.touch(row)
			}
		}
	}
	return nil
}

// mostCalls is how many tools a run calls at the same time, for its steps side by side.
const mostCalls = 8

// called is what came of a call beside other steps.
type called struct {
	step   string
	output any
	note   string
	err    error
}

// callBeside calls a tool while the run goes on at its other places.
func (x *execution) callBeside(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, named *fermata.NamedTool, input map[string]any) error {
	if len(x.calls) == mostCalls {
		x.landed = append(x.landed, <-x.results)
	}
	x.calls[step.ID] = true
	x.asleep[step.ID] = nil
	go func() {
		output, note, err := x.call(ctx, step, row, named, input)
		x.results <- called{step.ID, output, note, err}
	}()
	return errAsleep
}

// land takes what came of a call.
func (x *execution) land(ctx context.Context) error {
	c := x.landed[0]
	x.landed = x.landed[1:]
	delete(x.calls, c.step)
	x.turnTo(c.step)
	step := x.def.Step(c.step)
	return x.tookCall(ctx, step, x.current(step.ID), c)
}

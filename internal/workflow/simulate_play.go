package workflow

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
)

// play starts the run and brings it to its end.
func (r *simulation) play(ctx context.Context) (*fermata.TestReport, error) {
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	for {
		t, err := r.e.Task(ctx, tester, r.runID)
		if err != nil {
			return nil, err
		}
		run, err := r.s.RunDetails(ctx, tester, r.runID)
		if err != nil {
			return nil, err
		}
		if run.State.IsEnded() || len(r.report.Failures) > 0 {
			return r.checkExpectations(ctx, run)
		}
		if err := r.advance(ctx, t, run); err != nil {
			return nil, err
		}
		engine.Sleep(ctx, time.Millisecond)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

func (r *simulation) start(ctx context.Context) error {
	inputs, err := checkInputs(r.def, r.script.Inputs)
	if err != nil {
		return err
	}
	cause := map[string]any{"type": string(fermata.TriggerManual), "by": tester.Name}
	for name, v := range r.script.Trigger {
		cause[name] = v
	}
	// A simulation may start the workflow even if it has no manual trigger.
	r.runID, err = engine.Write(ctx, r.e, tester, fermata.ToStartWorkflow, func(tx *store.Tx) (string, error) {
		w, err := r.s.saveDefinition(tx, tester, r.def, Definition{Source: string(r.source)})
		if err != nil {
			return "", err
		}
		tx.SetSchedules(w.Name, nil)
		return r.s.fire(tx, firing{def: r.def, workflow: w, trigger: fermata.TriggerManual, inputs: inputs, cause: cause, mustStart: true})
	})
	return err
}

// advance does the next thing that a waiting run waits for: it gives the first answer that the script has for an open question.
// Only if no answer is left, it advances the clock. t is the task of the run, as it was before the run was read.
func (r *simulation) advance(ctx context.Context, t *fermata.Task, run *fermata.WorkflowRun) error {
	if !t.State.IsSuspended() && t.State != fermata.TaskBlocked && t.State != fermata.TaskDeferred {
		return nil // the run moves forward by itself
	}
	open, err := r.openQuestions(ctx, run)
	if err != nil {
		return err
	}
	for _, o := range open {
		if !o.reply.Timeout {
			r.answer(ctx, o)
			return nil
		}
	}
	now, err := r.e.Task(ctx, tester, run.ID)
	if err != nil || now.Version != t.Version {
		return err // the run went on while it was read, and may have asked more
	}
	return r.passTime(ctx, t, open)
}

// passTime advances the clock to the first instant at which the run continues by itself, or at which the deadline of an open
// question passes.
func (r *simulation) passTime(ctx context.Context, t *fermata.Task, open []openQuestion) error {
	first, endless := t.DeferUntil, ""
	for _, o := range open {
		switch at := o.question.Deadline; {
		case at == nil:
			endless = cmp.Or(endless, o.step)
		case first == nil || at.Before(*first):
			first = at
		}
	}
	switch {
	case first != nil:
		return r.advanceClock(ctx, *first)
	case endless != "":
		r.addFailure("the step %s waits for ever: there is no deadline to pass", endless)
	}
	return nil
}

// advanceClock advances the fake clock to an instant.
func (r *simulation) advanceClock(ctx context.Context, at time.Time) error {
	now, err := r.db.Now(ctx)
	if err == nil && at.After(now) {
		r.clockAhead.Add(int64(at.Sub(now) + time.Millisecond))
	}
	return err
}

func (r *simulation) addFailure(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if message := fmt.Sprintf(format, args...); !slices.Contains(r.report.Failures, message) {
		r.report.Failures = append(r.report.Failures, message)
	}
}

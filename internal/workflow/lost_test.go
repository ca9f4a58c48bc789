package workflow_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/test/patience"
)

// blockCall makes one call of a tool, counted from 1, wait until its process is
// stopped. The other calls succeed.
func (w *world) blockCall(name string, call int) (entered chan struct{}) {
	entered = make(chan struct{})
	calls := 0
	w.tools.on(name, func(ctx context.Context, c tool.Call) (any, error) {
		if calls++; calls != call {
			return c.Input, nil
		}
		close(entered)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	return entered
}

// restart stops the process and starts another one.
func (w *world) restart() {
	w.Helper()
	w.stop()
	w.Engine, w.s = w.process(nil)
	w.start()
}

// TestLostAfterSilence loses the process in the middle of an on_timeout action.
// The action is done again, and nobody is asked again.
func TestLostAfterSilence(t *testing.T) {
	onBoth(t, func(w *world) {
		setConfidence(w, 40)
		entered := w.blockCall("label", 1)
		run := w.run(autofix, map[string]any{"issue": 7})
		w.awaitRunQuestion(run.ID)
		w.Clock.Advance(25 * time.Hour)
		patience.Receive(w, "the tool is called", entered)
		w.restart()
		run = w.await(run.ID, fermata.TaskSkipped)
		w.wantSteps(run, "analyze/1:done check_confidence/1:skipped check_confidence.on_timeout/1:done ")
		if keys := w.tools.keys("check_confidence.on_timeout"); len(keys) != 2 || keys[0] != keys[1] {
			w.Fatalf("the keys are %v", keys)
		}
	})
}

func TestRetryOfWhatFailedAfterSilence(t *testing.T) {
	onBoth(t, func(w *world) {
		setConfidence(w, 40)
		w.tools.on("label", func(context.Context, tool.Call) (any, error) { return nil, errors.New("GitHub is away") })
		run := w.run(autofix, map[string]any{"issue": 7})
		w.awaitRunQuestion(run.ID)
		w.Clock.Advance(25 * time.Hour)
		w.await(run.ID, fermata.TaskFailed)
		w.tools.on("label", func(_ context.Context, c tool.Call) (any, error) { return c.Input, nil })
		_, err := w.s.Retry(w.Context(), admin, run.ID, nil)
		w.OK(err)
		run = w.await(run.ID, fermata.TaskSkipped)
		w.wantSteps(run, "analyze/1:done check_confidence/1:skipped check_confidence.on_timeout/1:done on_failure.comment/1:done ")
	})
}

// TestLostWithTheOtherInput loses the process in a step for which a person gave
// another input. The step is done with that input.
func TestLostWithTheOtherInput(t *testing.T) {
	onBoth(t, func(w *world) {
		w.tools.on("apply", func(context.Context, tool.Call) (any, error) { return nil, errors.New("broken") })
		run := w.run(`
name: edited
triggers: [{manual: true}]
steps:
  - {id: fix, tool: apply, input: {approach: bad}}
  - {id: tell, tool: note, input: {fixed: "{{ steps.fix.output.approach }}"}}
`, nil)
		w.await(run.ID, fermata.TaskFailed)
		entered := w.blockCall("apply", 1)
		_, err := w.s.Retry(w.Context(), admin, run.ID, []byte(`{"approach":"good"}`))
		w.OK(err)
		patience.Receive(w, "the tool is called", entered)
		w.restart()
		run = w.await(run.ID, fermata.TaskDone)
		if got := string(run.Steps[1].Input); got != `{"fixed":"good"}` {
			w.Fatalf("the step behind got %s", got)
		}
	})
}

// TestForeachBeginsWhatItDoes has many items for a worker, two at a time.
func TestForeachBeginsWhatItDoes(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(`
name: many
triggers: [{manual: true}]
steps:
  - {id: each, foreach: "{{ [1, 2, 3, 4, 5] }}", parallel: 2, tool: shell, input: {command: [echo, "{{ string(item) }}"]}}
`, nil)
		var claims []*fermata.Claim
		for ended := range 5 {
			for len(claims) < min(2, 5-ended) {
				claim, err := w.Engine.Claim(w.Context(), worker, fermata.ClaimRequest{Worker: "w", Runners: []string{"shell"}, LeaseSeconds: 60, WaitSeconds: 20})
				w.OK(err)
				claims = append(claims, claim)
			}
			if got, want := w.itemsOf(run.ID), min(ended+2, 5); got != want {
				w.Fatalf("%d items are begun when %d have ended, want %d", got, ended, want)
			}
			_, err := w.Engine.Finish(w.Context(), worker, claims[0].Run.ID, fermata.Finish{Token: claims[0].Run.Token, Result: fermata.ResultCompleted, Summary: "done"})
			w.OK(err)
			claims = claims[1:]
		}
		w.await(run.ID, fermata.TaskDone)
		events, err := w.DB.Reader(w.Context(), store.DefaultWorkspace).Events(store.EventFilter{TaskID: run.ID, Limit: 500, Types: []string{string(fermata.EventStepStarted)}})
		w.OK(err)
		items := slices.DeleteFunc(events, func(e *fermata.Event) bool { return !strings.Contains(string(e.Data), `"item"`) })
		if len(items) != 5 {
			w.Fatalf("%d events tell that an item was begun", len(items))
		}
	})
}

func (w *world) itemsOf(id string) int {
	w.Helper()
	n := 0
	for _, s := range w.read(id).Steps {
		if s.Item != nil {
			n++
		}
	}
	return n
}

// TestRunDoesNotWaitForItself starts a run below another run of the same key.
func TestRunDoesNotWaitForItself(t *testing.T) {
	onBoth(t, func(w *world) {
		for _, policy := range []string{"queue", "cancel_previous", "skip"} {
			run := w.run(strings.ReplaceAll(`
name: again-POLICY
triggers: [{manual: true}]
concurrency: {key: one, policy: POLICY}
inputs: {sub: {type: string, default: again-POLICY}}
steps:
  - {id: sub, tool: workflow, input: {name: "{{ inputs.sub }}"}}
`, "POLICY", policy), nil)
			run = w.awaitEnd(run.ID)
			if run.State != fermata.TaskFailed || run.Steps[0].Error == nil || run.Steps[0].Error.Code != "input_error" {
				w.Errorf("%s: the run is %s, %s", policy, run.State, w.describe(run))
			}
		}
	})
}

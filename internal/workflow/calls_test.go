package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/test/patience"
)

// holdTool makes the calls of a tool wait until let is closed. begun receives each call when it begins.
func (w *world) holdTool(name string) (begun chan tool.Call, let chan struct{}) {
	begun, let = make(chan tool.Call, 100), make(chan struct{})
	w.tools.on(name, func(ctx context.Context, c tool.Call) (any, error) {
		begun <- c
		select {
		case <-let:
			return map[string]any{"item": c.Item}, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	})
	return begun, let
}

// awaitCalls waits for n calls, and returns their steps and items.
func (w *world) awaitCalls(begun <-chan tool.Call, n int) []string {
	w.Helper()
	var all []string
	for range n {
		select {
		case c := <-begun:
			name := c.Step
			if c.Item != nil {
				name += fmt.Sprintf("/%d", *c.Item)
			}
			all = append(all, name)
		case <-time.After(patience.Limit()):
			w.Fatalf("only %v have begun", all)
		}
	}
	slices.Sort(all)
	return all
}

// TestBranchesGoOnBesideItems has a branch whose items call a tool. Meanwhile one other branch comes to its end, and
// another asks.
func TestBranchesGoOnBesideItems(t *testing.T) {
	onBoth(t, func(w *world) {
		begun, let := w.holdTool("check")
		run := w.run(forked(`
steps:
  - {id: each, tool: check, foreach: [1, 2, 3], parallel: 2, output: all}
  - {id: one, tool: note, needs: []}
  - {id: two, tool: note}
  - {id: ask, tool: post_question, suspend: true, input: {question: "Go?", options: [x], timeout: never}}
  - {id: join, tool: publish, needs: [each, ask], input: {all: "{{ all }}"}}
`), nil)
		if got := w.awaitCalls(begun, 2); !slices.Equal(got, []string{"each/0", "each/1"}) {
			w.Fatalf("called %v", got)
		}
		open := w.awaitQuestions(run.ID, "ask")
		close(let)
		w.answer(open["ask"], fermata.Answer{Answer: "x"})
		run = w.await(run.ID, fermata.TaskDone)
		if got := string(run.Steps[len(run.Steps)-1].Input); got != `{"all":[{"item":0},{"item":1},{"item":2}]}` {
			w.Fatalf("the last step got %s", got)
		}
	})
}

// TestBranchesGoOnBesideACall has a call that does not return. Meanwhile a question is answered, a command ends, a wait and
// a retry come to their time, and each branch goes on.
func TestBranchesGoOnBesideACall(t *testing.T) {
	onBoth(t, func(w *world) {
		begun, let := w.holdTool("check")
		mend := w.breakTool("apply")
		run := w.run(forked(`
steps:
  - {id: slow, tool: check, needs: []}
  - {id: ask, tool: post_question, suspend: true, needs: [], input: {question: "Go?", options: [x], timeout: never}}
  - {id: asked, tool: note, needs: [ask]}
  - {id: build, tool: shell, needs: [], on_error: continue, input: {run: make}}
  - {id: built, tool: note, needs: [build]}
  - {id: rest, tool: wait, needs: [], input: {for: 1h}}
  - {id: rested, tool: note, needs: [rest]}
  - {id: try, tool: apply, needs: [], retry: {attempts: 2, backoff: 1h, max_backoff: 2h}}
  - {id: tried, tool: note, needs: [try]}
`), nil)
		w.awaitCalls(begun, 1)
		w.answer(w.awaitQuestions(run.ID, "ask")["ask"], fermata.Answer{Answer: "x"})
		w.awaitStepState(run.ID, "asked", fermata.StepDone)
		w.work(fermata.Finish{Result: fermata.ResultFailed, Summary: "broken"})
		w.awaitStepState(run.ID, "built", fermata.StepDone)
		w.awaitStepState(run.ID, "try", fermata.StepWaiting)
		mend()
		w.Clock.Advance(3 * time.Hour)
		w.awaitStepState(run.ID, "rested", fermata.StepDone)
		w.awaitStepState(run.ID, "tried", fermata.StepDone)
		w.awaitStepState(run.ID, "slow", fermata.StepRunning)
		close(let)
		w.await(run.ID, fermata.TaskDone)
	})
}

// TestFailFastEndsItems has a branch that fails while items of another branch call a tool. Items whose call has not
// begun are not called, and a retry calls only those.
func TestFailFastEndsItems(t *testing.T) {
	onBoth(t, func(w *world) {
		begun, let := w.holdTool("check")
		mend := w.breakTool("apply")
		run := w.run(forked(`
fail_fast: true
steps:
  - {id: each, tool: check, foreach: [1, 2, 3], parallel: 2, output: all}
  - {id: fail, tool: apply, needs: []}
  - {id: join, tool: publish, needs: [each, fail]}
`), nil)
		w.awaitCalls(begun, 2)
		w.awaitStepState(run.ID, "fail", fermata.StepFailed)
		close(let)
		run = w.await(run.ID, fermata.TaskFailed)
		if got := w.outcomes(run.ID); got != "each/1:cancelled fail/1:failed" {
			w.Fatalf("got %s", got)
		}
		if keys := w.tools.keys("each"); len(keys) != 2 {
			w.Fatalf("called %v", keys)
		}
		mend()
		_, err := w.s.Retry(w.Context(), admin, run.ID, nil)
		w.OK(err)
		w.await(run.ID, fermata.TaskDone)
		if got := w.outcomes(run.ID); got != "each/1:done fail/1:done join/1:done" {
			w.Fatalf("got %s", got)
		}
		if keys := w.tools.keys("each"); len(keys) != 3 {
			w.Fatalf("called %v", keys)
		}
	})
}

// TestCallsTakeTurns has more parallel steps than may call at the same time.
func TestCallsTakeTurns(t *testing.T) {
	onBoth(t, func(w *world) {
		begun, let := w.holdTool("check")
		var steps strings.Builder
		for i := range 12 {
			fmt.Fprintf(&steps, "  - {id: s%d, tool: check, needs: []}\n", i)
		}
		run := w.run(forked("\nsteps:\n"+steps.String()+"  - {id: ask, tool: post_question, suspend: true, needs: [], input: {question: 'Go?', options: [x], timeout: never}}\n"), nil)
		w.awaitCalls(begun, 8)
		open := w.awaitQuestions(run.ID, "ask")
		if more := len(begun); more != 0 {
			w.Fatalf("%d more have begun", more)
		}
		close(let)
		w.awaitCalls(begun, 4)
		w.answer(open["ask"], fermata.Answer{Answer: "x"})
		w.await(run.ID, fermata.TaskDone)
	})
}

// TestFailFastEndsWaitingCalls checks that steps whose calls are queued call nothing after another step fails.
func TestFailFastEndsWaitingCalls(t *testing.T) {
	onBoth(t, func(w *world) {
		begun := make(chan tool.Call, 100)
		fail, let := make(chan struct{}), make(chan struct{})
		w.tools.on("check", func(ctx context.Context, c tool.Call) (any, error) {
			begun <- c
			if c.Step == "s0" {
				<-fail
				return nil, errors.New("no luck")
			}
			select {
			case <-let:
			case <-ctx.Done():
			}
			return nil, nil
		})
		var steps strings.Builder
		for i := range 10 {
			fmt.Fprintf(&steps, "  - {id: s%d, tool: check, needs: []}\n", i)
		}
		run := w.run(forked("fail_fast: true\nsteps:\n"+steps.String()), nil)
		w.awaitCalls(begun, 8)
		close(fail)
		w.awaitStepState(run.ID, "s0", fermata.StepFailed)
		close(let)
		run = w.await(run.ID, fermata.TaskFailed)
		cancelled := 0
		for _, s := range run.Steps {
			if s.State == fermata.StepCancelled {
				cancelled++
			}
		}
		// A queued call may have started at the moment of the failure.
		if called := len(w.tools.calledSteps()); called+cancelled != 10 || cancelled == 0 {
			w.Fatalf("%d called, %d cancelled", called, cancelled)
		}
	})
}

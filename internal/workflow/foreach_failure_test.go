package workflow_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/test/patience"
)

// Other steps can read the list of outputs of a step with failed items, and so can the run that started this one.
func TestOutputOfFailedItems(t *testing.T) {
	onBoth(t, func(w *world) {
		w.tools.on("check", func(_ context.Context, c tool.Call) (any, error) {
			if *c.Item == 1 {
				return nil, errors.New("no luck")
			}
			return c.Input, nil
		})
		w.put("name: inner\ntriggers: [{manual: true}]\nsteps:\n" +
			"  - {id: each, tool: check, foreach: [a, b, c], on_error: continue, input: {it: '{{ item }}'}, output: all}\n" +
			"  - {id: next, tool: note, input: {all: '{{ all }}', status: '{{ steps.each.status }}'}}\n")
		run := w.run(`
name: outer
triggers: [{manual: true}]
steps:
  - {id: sub, tool: workflow, input: {name: inner}, output: result}
  - {id: tell, tool: note, input: {all: "{{ result.all }}"}}
`, nil)
		run = w.await(run.ID, fermata.TaskDone)
		inner := w.read(run.Steps[0].ChildID)
		if got := string(inner.Steps[len(inner.Steps)-1].Input); got != `{"all":[{"it":"a"},null,{"it":"c"}],"status":"failed"}` {
			w.Errorf("the next step got %s", got)
		}
		if got := string(run.Steps[1].Input); got != `{"all":[{"it":"a"},null,{"it":"c"}]}` {
			w.Errorf("the outer run got %s", got)
		}
	})
}

// With fail_fast, no call begins after an item has failed. A retry does that item and the ones that have not begun.
func TestFailFastBeginsNoMoreItems(t *testing.T) {
	onBoth(t, func(w *world) {
		broken := true
		w.tools.on("check", func(_ context.Context, c tool.Call) (any, error) {
			if *c.Item == 1 && broken {
				return nil, errors.New("no luck")
			}
			return nil, nil
		})
		run := w.run(forked("fail_fast: true\nsteps:\n  - {id: each, tool: check, foreach: [1, 2, 3, 4]}\n"), nil)
		run = w.await(run.ID, fermata.TaskFailed)
		if keys := w.tools.keys("each"); len(keys) != 2 {
			w.Fatalf("called %v", keys)
		}
		if got := w.itemStates(run.ID); got != "done failed cancelled cancelled" {
			w.Fatalf("the items are %s", got)
		}
		broken = false
		_, err := w.s.Retry(w.Context(), admin, run.ID, nil)
		w.OK(err)
		w.await(run.ID, fermata.TaskDone)
		if keys := w.tools.keys("each"); len(keys) != 5 {
			w.Fatalf("called %v", keys)
		}
	})
}

// With fail_fast, an item that fails immediately cancels the tasks of the other items and the parallel steps.
func TestFailFastCancelsItems(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(forked(`
fail_fast: true
steps:
  - {id: ask, tool: post_question, suspend: true, needs: [], input: {question: "A?", options: [x], timeout: never}}
  - {id: each, tool: shell, needs: [], foreach: [1, 2, 3, 4], parallel: 2, input: {command: [make, "{{ string(item) }}"]}}
`), nil)
		w.awaitQuestions(run.ID, "ask")
		patience.Await(w, "two items have begun", func() bool { return w.itemsOf(run.ID) == 2 })
		failed := w.work(fermata.Finish{Result: fermata.ResultFailed, Summary: "no luck"})
		run = w.await(run.ID, fermata.TaskFailed)
		if got := w.outcomes(run.ID); got != "ask/1:cancelled each/1:failed" {
			w.Fatalf("got %s", got)
		}
		for _, s := range run.Steps {
			if s.Item == nil || s.ChildID == failed.ID {
				continue
			}
			task, err := w.Engine.Task(w.Context(), admin, s.ChildID)
			w.OK(err)
			if s.State != fermata.StepCancelled || task.State != fermata.TaskCancelled {
				w.Errorf("the item %d is %s, its task %s", *s.Item, s.State, task.State)
			}
		}
		if n := w.itemsOf(run.ID); n != 2 {
			w.Errorf("%d items have begun", n)
		}
	})
}

// An item whose step will be tried again does not end the other items.
func TestFailFastAwaitsTheLastAttempt(t *testing.T) {
	onBoth(t, func(w *world) {
		calls := 0
		w.tools.on("check", func(_ context.Context, c tool.Call) (any, error) {
			if calls++; *c.Item == 0 && calls == 1 {
				return nil, errors.New("no luck")
			}
			return nil, nil
		})
		run := w.run(forked("fail_fast: true\nsteps:\n  - {id: each, tool: check, foreach: [1, 2, 3], retry: {attempts: 2, backoff: 1s}}\n"), nil)
		patience.Await(w, "the step waits for its next attempt", func() bool { return w.itemStates(run.ID) == "failed done done" })
	})
}

// A list that is too long fails the step with its limit and a remedy.
func TestTooManyItems(t *testing.T) {
	onBoth(t, func(w *world) {
		var list []any
		for range 1001 {
			list = append(list, 1)
		}
		run := w.run(forked("inputs: {list: {type: array, required: true}}\nsteps:\n  - {id: each, tool: check, foreach: '{{ inputs.list }}'}\n"), map[string]any{"list": list})
		run = w.await(run.ID, fermata.TaskFailed)
		if e := run.Steps[0].Error; !strings.Contains(e.Message, "foreach gives 1001 items, and may give at most 1000") || e.Hint == "" {
			w.Errorf("got %+v", e)
		}
	})
}

// itemStates returns the states of all items of a run, in the order in which they began.
func (w *world) itemStates(id string) string {
	w.Helper()
	var all []string
	for _, s := range w.read(id).Steps {
		if s.Item != nil {
			all = append(all, string(s.State))
		}
	}
	return strings.Join(all, " ")
}

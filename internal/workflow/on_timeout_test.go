package workflow_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/test/patience"
)

// failsAfterSilence is a workflow whose on_timeout tool fails. ACTION is the rest of its on_timeout.
const failsAfterSilence = `
name: silent
triggers: [{manual: true}]
steps:
  - {id: ask, tool: post_question, suspend: true, input: {question: "Which?", timeout: 1h, timeoutAction: skip}, on_timeout: {tool: label ACTION}}
  - {id: next, tool: note}
  - {id: last, tool: note}
on_failure:
  - {id: cleanup, tool: note, input: {failure: "{{ failure }}"}}
finally:
  - {id: always, tool: note}
  - {id: fin, tool: note}
`

// A run whose on_timeout tool fails does its on_failure steps and all steps of finally, and no other step. A retry
// calls the tool again, and repeats nothing that was done.
func TestAFailedTimeoutToolFailsTheRun(t *testing.T) {
	for name, action := range map[string]string{"it ends": "", "it goes on": ", goto: last", "it goes back": ", goto: ask"} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				w.tools.on("label", func(context.Context, tool.Call) (any, error) { return nil, errors.New("no such release") })
				run := w.run(strings.Replace(failsAfterSilence, " ACTION", action, 1), nil)
				w.awaitRunQuestion(run.ID)
				w.Clock.Advance(2 * time.Hour)
				run = w.await(run.ID, fermata.TaskFailed)
				w.wantSteps(run, "ask/1:skipped ask.on_timeout/1:failed (tool_failed: no such release) cleanup/1:done always/1:done fin/1:done ")
				if run.Reason != fermata.ReasonStepFailed || run.Summary != "on_timeout of the step ask failed: no such release" {
					w.Errorf("the run says %s: %s", run.Reason, run.Summary)
				}
				if got := string(stepOf(run, "cleanup").Input); got != `{"failure":{"code":"tool_failed","message":"no such release","reason":"step_failed","state":"failed","step":"ask"}}` {
					w.Errorf("on_failure sees %s", got)
				}
				for range 2 {
					before := len(w.tools.calledSteps())
					_, err := w.s.Retry(w.Context(), admin, run.ID, nil)
					w.OK(err)
					w.await(run.ID, fermata.TaskFailed)
					if got := strings.Join(w.tools.calledSteps()[before:], " "); got != "ask.on_timeout cleanup always fin" {
						w.Errorf("the retry called %s", got)
					}
				}
			})
		})
	}
}

// stepOf returns the last row of a step, without its items.
func stepOf(run *fermata.WorkflowRun, id string) *fermata.WorkflowStep {
	var last *fermata.WorkflowStep
	for _, s := range run.Steps {
		if s.Step == id && s.Item == nil {
			last = s
		}
	}
	return last
}

// A failed on_timeout tool ends only its own branch: the step at which another branch waits goes on.
func TestAFailedTimeoutToolLeavesOtherBranchesAlone(t *testing.T) {
	onBoth(t, func(w *world) {
		w.tools.on("label", func(context.Context, tool.Call) (any, error) { return nil, errors.New("no such release") })
		run := w.run(forked(`
steps:
  - {id: ask, tool: post_question, suspend: true, needs: [], input: {question: "A?", options: [x], timeout: 1h, timeoutAction: skip}, on_timeout: {tool: label, goto: then}}
  - {id: other, tool: post_question, suspend: true, needs: [], input: {question: "B?", options: [x], timeout: never}}
  - {id: then, tool: note, needs: [ask]}
  - {id: after, tool: note, needs: [other]}
`), nil)
		questions := w.awaitQuestions(run.ID, "ask", "other")
		w.Clock.Advance(2 * time.Hour)
		patience.Await(w, "the tool has failed", func() bool { return strings.Contains(w.outcomes(run.ID), "ask.on_timeout/1:failed") })
		w.answer(questions["other"], fermata.Answer{Answer: "x"})
		w.await(run.ID, fermata.TaskFailed)
		if got := w.outcomes(run.ID); got != "after/1:done ask.on_timeout/1:failed ask/1:skipped other/1:done" {
			w.Errorf("got %s", got)
		}
	})
}

// A question in finally whose on_timeout tool fails does not keep the next step of finally from being tried.
func TestAFailedTimeoutToolInFinally(t *testing.T) {
	onBoth(t, func(w *world) {
		w.tools.on("label", func(context.Context, tool.Call) (any, error) { return nil, errors.New("no such release") })
		run := w.run(`
name: silent
triggers: [{manual: true}]
steps: [{id: work, tool: note}]
finally:
  - {id: ask, tool: post_question, suspend: true, input: {question: "Which?", timeout: 1h, timeoutAction: skip}, on_timeout: {tool: label}}
  - {id: clean, tool: note}
  - {id: fin, tool: note}
`, nil)
		w.awaitRunQuestion(run.ID)
		w.Clock.Advance(2 * time.Hour)
		run = w.await(run.ID, fermata.TaskFailed)
		w.wantSteps(run, "work/1:done ask/1:skipped ask.on_timeout/1:failed (tool_failed: no such release) clean/1:done fin/1:done ")
	})
}

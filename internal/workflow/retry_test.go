package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/test/patience"
)

// longestDelay is longer than any wait between two usual attempts.
const longestDelay = time.Minute

// advanceToAttempt waits until the last step of a run is deferred until the attempt, and advances the clock to that time.
func (w *world) advanceToAttempt(run *fermata.WorkflowRun, attempt int) {
	w.Helper()
	patience.Await(w, fmt.Sprintf("attempt %d is due", attempt), func() bool {
		now := w.read(run.ID)
		if now.State.IsEnded() {
			w.Fatalf("the run is %s: %s", now.State, w.describe(now))
		}
		return now.State == fermata.TaskDeferred && attempts(now) == attempt
	})
	w.Clock.Advance(longestDelay)
}

// attempts returns the number of the attempt at which the last step of a run is.
func attempts(run *fermata.WorkflowRun) int {
	last := 0
	for _, s := range run.Steps {
		if s.Item == nil {
			last = s.Attempt
		}
	}
	return last
}

// An agent whose output does not fit is asked again, and is told what was wrong.
func TestAnAgentIsToldWhatWasWrongWithItsOutput(t *testing.T) {
	for name, step := range map[string]string{
		"an agent":                  `{id: rate, tool: agent, output: rated, input: {runner: claude, prompt: "Rate it."}, schema: SCHEMA}`,
		"an agent, as retry says":   `{id: rate, tool: agent, output: rated, retry: {attempts: 3, backoff: 1s}, input: {runner: claude, prompt: "Rate it."}, schema: SCHEMA}`,
		"a tool of the workspace":   `{id: rate, tool: rate, output: rated}`,
		"an agent for each of some": `{id: rate, tool: agent, output: rated, foreach: "{{ [1] }}", input: {runner: claude, prompt: "Rate it."}, schema: SCHEMA}`,
	} {
		const wanted = `{"type": "object", "required": ["confidence"], "properties": {"confidence": {"type": "number"}}}`
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				_, err := w.s.PutNamedTool(w.Context(), admin, &fermata.NamedTool{
					Name: "rate", Agent: &fermata.AgentTool{Runner: "claude", Prompt: "Rate it."}, Schema: []byte(wanted),
				})
				w.OK(err)
				run := w.run("name: rating\ntriggers: [{manual: true}]\nsteps:\n  - "+strings.ReplaceAll(step, "SCHEMA", wanted)+"\n", nil)
				first := w.work(fermata.Finish{Result: fermata.ResultCompleted, Summary: "I am\n{\"confidence\": \"high\"}"})
				if strings.Contains(first.Body, "tried before") {
					w.Errorf("the first attempt is told %q", first.Body)
				}
				w.advanceToAttempt(run, 2)
				second := w.work(fermata.Finish{Result: fermata.ResultFailed, Summary: "the model is overloaded"})
				for _, want := range []string{"Rate it.", "got string, want number", "> I am\n> {\"confidence\": \"high\"}"} {
					if !strings.Contains(second.Body, want) {
						w.Errorf("the second attempt is not told %q:\n%s", want, second.Body)
					}
				}
				if !strings.Contains(name, "retry says") {
					// The work of an agent before its failure may have had an effect.
					if run := w.awaitEnd(run.ID); run.State != fermata.TaskFailed {
						w.Errorf("the run is %s", run.State)
					}
					return
				}
				w.advanceToAttempt(run, 3)
				third := w.work(fermata.Finish{Result: fermata.ResultCompleted, Summary: `{"confidence": 80}`})
				if !strings.Contains(third.Body, "the model is overloaded") || strings.Contains(third.Body, "want number") {
					w.Errorf("the third attempt is told %q", third.Body)
				}
				w.wantSteps(w.await(run.ID, fermata.TaskDone), "rate/1:done ")
			})
		})
	}
}

// A command gives the same output every time. It is not retried because of its output, unless the step says so.
func TestACommandIsTriedAgainAsItsStepSays(t *testing.T) {
	for retry, wanted := range map[string]int{"": 1, ", retry: {attempts: 2, backoff: 1s}": 2} {
		t.Run(retry, func(t *testing.T) {
			onBoth(t, func(w *world) {
				run := w.run(`
name: counting
triggers: [{manual: true}]
steps:
  - {id: count, tool: shell, input: {run: "wc -l *"}, schema: {type: object, required: [lines]}`+retry+`}
`, nil)
				for n := range wanted {
					if n > 0 {
						w.advanceToAttempt(run, n+1)
					}
					w.work(fermata.Finish{Result: fermata.ResultCompleted, Details: []byte(`{"exit_code": 0, "output": "many\n"}`)})
				}
				ended := w.awaitEnd(run.ID)
				if got := ended.Steps[0].Attempt; got != wanted || ended.Steps[0].Error.Code != "output_mismatch" {
					w.Errorf("with %q there were %d attempts: %s", retry, got, w.describe(ended))
				}
			})
		})
	}
}

// If the step has no retry setting, errors that are safe to retry are retried up to three attempts, and no others are.
func TestUsualRetries(t *testing.T) {
	passing := tool.Transient(fermata.Errorf(fermata.CodeUnavailable, "502 Bad Gateway"))
	for name, tt := range map[string]struct {
		err      error
		retry    string
		attempts int
	}{
		"a failure that is safe to retry":    {err: tool.MarkSafeToRetry(passing), attempts: 3},
		"one that may have had its effect":   {err: passing, attempts: 1},
		"an error that nobody judged":        {err: errors.New("broken"), attempts: 1},
		"one that no retry repairs":          {err: tool.MarkSafeToRetry(tool.Permanent(fermata.Errorf(fermata.CodeForbidden, "no"))), attempts: 1},
		"a step that wants a single attempt": {err: tool.MarkSafeToRetry(passing), retry: ", retry: {attempts: 1}", attempts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				w.tools.on("publish", func(context.Context, tool.Call) (any, error) { return nil, tt.err })
				run := w.run("name: release\ntriggers: [{manual: true}]\nsteps:\n  - {id: publish, tool: publish"+tt.retry+"}\n", nil)
				for n := range tt.attempts - 1 {
					w.advanceToAttempt(run, n+2)
				}
				ended := w.awaitEnd(run.ID)
				if n := len(w.tools.keys("publish")); n != tt.attempts || ended.State != fermata.TaskFailed {
					w.Errorf("%d attempts: %s", n, w.describe(ended))
				}
				if e := ended.Steps[0].Error; e.SafeToRetry != (tt.attempts == 3 || tt.retry != "") {
					w.Errorf("the error says %+v", e)
				}
			})
		})
	}
}

// Each failed item of a list is retried. Items that are done are not.
func TestItemsAreTriedAgain(t *testing.T) {
	onBoth(t, func(w *world) {
		calls := map[string]int{}
		w.tools.on("publish", func(_ context.Context, c tool.Call) (any, error) {
			n := fmt.Sprint(c.Input["n"])
			if calls[n]++; n == "2" && calls[n] < 3 {
				return nil, tool.MarkSafeToRetry(tool.Transient(fermata.Errorf(fermata.CodeUnavailable, "502 Bad Gateway")))
			}
			return n, nil
		})
		run := w.run(`
name: release
triggers: [{manual: true}]
steps:
  - {id: publish, tool: publish, foreach: "{{ [1, 2, 3] }}", input: {n: "{{ item }}"}}
`, nil)
		w.advanceToAttempt(run, 2)
		w.advanceToAttempt(run, 3)
		w.wantSteps(w.await(run.ID, fermata.TaskDone), "publish/1:done ")
		if calls["1"] != 1 || calls["2"] != 3 || calls["3"] != 1 {
			w.Errorf("the items were called %v", calls)
		}
	})
}

// The on_timeout tool is retried if the other side is down for a moment.
func TestTheToolAfterSilenceIsTriedAgain(t *testing.T) {
	onBoth(t, func(w *world) {
		calls := 0
		w.tools.on("label", func(context.Context, tool.Call) (any, error) {
			if calls++; calls < 3 {
				return nil, tool.MarkSafeToRetry(tool.Transient(fermata.Errorf(fermata.CodeUnavailable, "502 Bad Gateway")))
			}
			return "set", nil
		})
		run := w.run(`
name: asking
triggers: [{manual: true}]
steps:
  - {id: ask, tool: post_question, suspend: true, input: {question: "Which?", timeout: 1h, timeoutAction: skip}, on_timeout: {tool: label}}
`, nil)
		w.awaitRunQuestion(run.ID)
		w.Clock.Advance(time.Hour + time.Second)
		w.advanceToAttempt(run, 2)
		w.advanceToAttempt(run, 3)
		run = w.await(run.ID, fermata.TaskSkipped)
		w.wantSteps(run, "ask/1:skipped ask.on_timeout/1:done ")
	})
}

// TestACommandThatIsTriedOnceIsNotRunAgain loses the worker of a command. Nobody knows how much of the command ran.
func TestACommandThatIsTriedOnceIsNotRunAgain(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(`
name: once
triggers: [{manual: true}]
steps:
  - {id: deploy, tool: shell, retry: {attempts: 1}, input: {command: [deploy]}}
`, nil)
		claim := func(wait int) (*fermata.Claim, error) {
			return w.Engine.Claim(w.Context(), worker, fermata.ClaimRequest{Worker: "w", Runners: []string{"shell"}, LeaseSeconds: 60, WaitSeconds: wait})
		}
		_, err := claim(20)
		w.OK(err)
		w.Clock.Advance(time.Hour)
		failed := w.await(run.ID, fermata.TaskFailed)
		if e := failed.Steps[0].Error; e == nil || !strings.Contains(e.Message, "its worker was lost, and it is not run again") {
			w.Errorf("the step failed with %+v", e)
		}
	})
}

// TestAStepTellsThatItsWorkerWasLost has a command that another worker ran again.
func TestAStepTellsThatItsWorkerWasLost(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run("name: again\ntriggers: [{manual: true}]\nsteps:\n  - {id: build, tool: shell, input: {command: [make]}}\n", nil)
		request := fermata.ClaimRequest{Worker: "first", Runners: []string{"shell"}, LeaseSeconds: 60, WaitSeconds: 20}
		_, err := w.Engine.Claim(w.Context(), worker, request)
		w.OK(err)
		w.Clock.Advance(time.Hour)
		request.Worker = "second"
		claim, err := w.Engine.Claim(w.Context(), worker, request)
		w.OK(err)
		_, err = w.Engine.Finish(w.Context(), worker, claim.Run.ID, fermata.Finish{Token: claim.Run.Token, Result: fermata.ResultCompleted, Summary: "done"})
		w.OK(err)
		if note := w.await(run.ID, fermata.TaskDone).Steps[0].Note; note != "run again: the worker first was lost" {
			w.Errorf("the note is %q", note)
		}
	})
}

// The error for a retry of a waiting run names the question of the run, and how to answer it.
func TestARunThatWaitsNamesItsQuestion(t *testing.T) {
	for name, steps := range map[string]string{
		"a step":  `[{id: q, tool: post_question, suspend: true, input: {question: "Ship?", options: [a, b], timeout: never}}]`,
		"an item": `[{id: q, tool: post_question, suspend: true, foreach: [x], input: {question: "Ship?", options: [a, b], timeout: never}}]`,
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				run := w.run("name: waits\ntriggers: [{manual: true}]\ninputs: {none: {type: object}}\nsteps: "+steps+"\n", nil)
				var asked string
				patience.Await(w, "the run asks", func() bool {
					for _, s := range w.read(run.ID).Steps {
						if s.QuestionID != "" {
							asked = s.QuestionID
						}
					}
					return asked != ""
				})
				_, err := w.s.Retry(w.Context(), admin, run.ID, nil)
				refusal, ok := errors.AsType[*fermata.Error](err)
				if !ok || refusal.Code != fermata.CodeIllegalTransition || !strings.Contains(refusal.Hint, "fermata respond "+asked) {
					w.Errorf("the refusal is %v, and hints %q", err, refusal)
				}
			})
		})
	}
}

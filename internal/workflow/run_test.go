package workflow_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow"
	"github.com/fermata-hq/fermata/test/patience"
)

// autofix is the example of the specification, with tools of the tests instead
// of agents and GitHub.
const autofix = `
name: autofix
triggers:
  - manual: true
inputs: { issue: { type: number, required: true } }
steps:
  - id: analyze
    tool: analyze
    output: analysis
  - id: check_confidence
    condition: analysis.confidence < 80
    tool: post_question
    input:
      question: "{{ analysis.uncertainQuestion }}"
      options: "{{ analysis.suggestedOptions }}"
      timeoutHours: 24
      timeoutAction: skip
    suspend: true
  - id: apply_fix
    tool: apply
    input: { approach: "{{ answer ?? analysis.defaultApproach }}" }
  - id: run_checks
    tool: check
  - id: create_pr
    tool: publish
on_resume:
  inject: { answer: "{{ pendingQuestion.answer }}" }
  goto: apply_fix
on_timeout:
  tool: label
  input: { addLabels: [auto-fix-skip], addComment: "Skipped: nobody answered in time." }
`

// setConfidence makes the analysis return this confidence, so that the run asks.
func setConfidence(w *world, confidence int) {
	w.tools.on("analyze", func(context.Context, tool.Call) (any, error) {
		return map[string]any{
			"confidence": confidence, "uncertainQuestion": "Which way?", "suggestedOptions": []any{"patch", "rewrite"}, "defaultApproach": "patch",
		}, nil
	})
}

func TestSureRunNeedsNobody(t *testing.T) {
	onBoth(t, func(w *world) {
		setConfidence(w, 95)
		run := w.run(autofix, map[string]any{"issue": 7})
		run = w.await(run.ID, fermata.TaskDone)
		w.wantSteps(run, "analyze/1:done check_confidence/1:skipped apply_fix/1:done run_checks/1:done create_pr/1:done ")
		if got := string(run.Steps[2].Input); got != `{"approach":"patch"}` {
			w.Fatalf("apply_fix got %s", got)
		}
	})
}

func TestRunSuspendsAndGoesOnWithTheAnswer(t *testing.T) {
	onBoth(t, func(w *world) {
		setConfidence(w, 40)
		run := w.run(autofix, map[string]any{"issue": 7})
		q := w.awaitRunQuestion(run.ID)
		if q.Items[0].Prompt != "Which way?" || len(q.Items[0].Options) != 2 || q.OnTimeout != fermata.SkipTask {
			w.Fatalf("the question is %s", asJSON(q))
		}
		if got := w.tools.calledSteps(); !slices.Equal(got, []string{"analyze"}) {
			w.Fatalf("called before the answer: %v", got)
		}
		w.answer(q, fermata.Answer{Answer: "rewrite", Comment: "{{ secrets.x }}"})
		run = w.await(run.ID, fermata.TaskDone)
		w.wantSteps(run, "analyze/1:done check_confidence/1:done apply_fix/1:done run_checks/1:done create_pr/1:done ")
		if got := string(run.Steps[2].Input); got != `{"approach":"rewrite"}` {
			w.Fatalf("apply_fix got %s", got)
		}
		if !strings.Contains(string(run.Steps[1].Output), `"comment":"{{ secrets.x }}"`) {
			w.Fatalf("the comment was read as a template: %s", run.Steps[1].Output)
		}
	})
}

func TestSilenceSkipsAndTellsSo(t *testing.T) {
	onBoth(t, func(w *world) {
		setConfidence(w, 40)
		run := w.run(autofix, map[string]any{"issue": 7})
		w.awaitRunQuestion(run.ID)
		w.Clock.Advance(25 * time.Hour)
		run = w.await(run.ID, fermata.TaskSkipped)
		w.wantSteps(run, "analyze/1:done check_confidence/1:skipped check_confidence.on_timeout/1:done ")
		if run.Reason != fermata.ReasonQuestionTimedOut {
			w.Fatalf("the reason is %s", run.Reason)
		}
	})
}

func TestCancelWhileSuspended(t *testing.T) {
	onBoth(t, func(w *world) {
		setConfidence(w, 40)
		run := w.run(autofix, map[string]any{"issue": 7})
		q := w.awaitRunQuestion(run.ID)
		_, err := w.Engine.CancelTask(w.Context(), admin, run.ID, "not needed")
		w.OK(err)
		run = w.read(run.ID)
		closed, err := w.Engine.Question(w.Context(), ann, q.ID)
		w.OK(err)
		if run.State != fermata.TaskCancelled || closed.Status != fermata.Cancelled {
			w.Fatalf("run %s, question %s", run.State, closed.Status)
		}
		w.wantSteps(run, "analyze/1:done check_confidence/1:cancelled ")
		if _, err := w.Engine.Answer(w.Context(), ann, q.ID, fermata.Answer{Answer: "patch"}); fermata.CodeOf(err) != fermata.CodeQuestionClosed {
			w.Fatalf("the answer after the end: %v", err)
		}
	})
}

func TestRetryWithBackoffThenPeople(t *testing.T) {
	onBoth(t, func(w *world) {
		w.tools.on("apply", func(_ context.Context, c tool.Call) (any, error) {
			if c.Input["approach"] == "good" {
				return "fine", nil
			}
			return nil, errors.New("it broke")
		})
		run := w.run(`
name: fragile
triggers: [{manual: true}]
steps:
  - id: fix
    tool: apply
    input: {approach: bad}
    retry: {attempts: 3, backoff: 1s, factor: 1}
    on_error: ask
  - id: tell
    tool: note
    input: {fixed: "{{ steps.fix.output }}"}
`, nil)
		for n := range 2 {
			patience.Await(w, "it is tried again", func() bool { return len(w.tools.keys("fix")) == n+1 })
			w.await(run.ID, fermata.TaskDeferred)
			w.Clock.Advance(1300 * time.Millisecond)
		}
		q := w.awaitRunQuestion(run.ID)
		if q.Type != fermata.ErrorRecovery || q.Context.Error != "it broke" {
			w.Fatalf("the question is %s", asJSON(q))
		}
		keys := w.tools.keys("fix")
		if len(keys) != 3 || keys[0] != keys[1] || keys[1] != keys[2] {
			w.Fatalf("the keys of the attempts are %v", keys)
		}
		w.answerAs(w.operator(), q, fermata.Answer{Answers: map[string]any{"action": "retry_with_input", "input": `{"approach":"good"}`}})
		run = w.await(run.ID, fermata.TaskDone)
		w.wantSteps(run, "fix/1:done tell/1:done ")
		if got := string(run.Steps[1].Input); got != `{"fixed":"fine"}` {
			w.Fatalf("tell got %s", got)
		}
	})
}

func TestFailedRunIsTriedAgainFromWhereItFailed(t *testing.T) {
	onBoth(t, func(w *world) {
		broken := true
		w.tools.on("apply", func(context.Context, tool.Call) (any, error) {
			if broken {
				return nil, errors.New("no disk")
			}
			return "ok", nil
		})
		run := w.run(`
name: plain
triggers: [{manual: true}]
steps:
  - {id: first, tool: note}
  - {id: second, tool: apply}
  - {id: third, tool: note}
`, nil)
		failed := w.awaitEnd(run.ID)
		if failed.State != fermata.TaskFailed || failed.Reason != fermata.ReasonStepFailed || !failed.CanRetry {
			w.Fatalf("the run is %s, %s", failed.State, failed.Reason)
		}
		broken = false
		_, err := w.s.Retry(w.Context(), admin, run.ID, nil)
		w.OK(err)
		run = w.await(run.ID, fermata.TaskDone)
		w.wantSteps(run, "first/1:done second/1:done third/1:done ")
		if diff := cmp.Diff([]string{"first", "second", "second", "third"}, w.tools.calledSteps()); diff != "" {
			w.Fatal(diff)
		}
	})
}

func TestPushBackIsANewOccurrence(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(`
name: review
triggers: [{manual: true}]
max_iterations: 3
steps:
  - id: draft
    tool: note
    input: {feedback: "{{ feedback ?? 'none' }}"}
    output: text
  - id: approve
    tool: request_approval
    input: {title: "Publish?", timeout: never}
    on_resume:
      inject: {feedback: "{{ pendingQuestion.comment }}"}
    on_reject: {goto: draft}
  - id: publish
    tool: publish
`, nil)
		w.answer(w.awaitRunQuestion(run.ID), fermata.Answer{Answer: "reject", Comment: "shorter"})
		w.await(run.ID, fermata.TaskAwaitingApproval)
		w.answer(w.awaitRunQuestion(run.ID), fermata.Answer{Answer: "approve"})
		run = w.await(run.ID, fermata.TaskDone)
		w.wantSteps(run, "draft/1:done approve/1:rejected draft/2:done approve/2:done publish/1:done ")
		if got := string(run.Steps[2].Input); got != `{"feedback":"shorter"}` {
			w.Fatalf("the second draft got %s", got)
		}
	})
}

func TestLoopHasACap(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(`
name: endless
triggers: [{manual: true}]
max_iterations: 2
steps:
  - id: draft
    tool: note
  - id: approve
    tool: request_approval
    input: {title: "Publish?", timeout: never}
    on_reject: {goto: draft}
`, nil)
		for range 2 {
			w.answer(w.awaitRunQuestion(run.ID), fermata.Answer{Answer: "reject"})
			w.await(run.ID, fermata.TaskAwaitingApproval, fermata.TaskFailed)
		}
		if run = w.awaitEnd(run.ID); run.Reason != fermata.ReasonTooManyIterations {
			w.Fatalf("the run is %s: %s", run.State, run.Reason)
		}
		if want := "The run came to the step draft again, and max_iterations lets it do a step only 2 times."; run.Summary != want {
			w.Errorf("the summary is %q", run.Summary)
		}
	})
}

func TestForeachInProcess(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(`
name: many
triggers: [{manual: true}]
steps:
  - id: each
    foreach: "{{ [1, 2, 3, 4] }}"
    parallel: 2
    tool: note
    input: {n: "{{ item }}", at: "{{ index }}"}
    output: all
  - id: after
    tool: note
    input: {last: "{{ all[3].n }}", count: "{{ len(all) }}"}
`, nil)
		run = w.await(run.ID, fermata.TaskDone)
		w.wantSteps(run, "each/1:done after/1:done ")
		if got := string(run.Steps[len(run.Steps)-1].Input); got != `{"count":4,"last":4}` {
			w.Fatalf("after got %s", got)
		}
	})
}

func TestSeveralOpenQuestionsResumeOnce(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(`
name: poll
triggers: [{manual: true}]
steps:
  - id: ask
    foreach: "{{ ['a', 'b', 'c'] }}"
    parallel: 3
    tool: post_question
    suspend: true
    input: {question: "Ship {{ item }}?", responseType: boolean, timeout: never}
    output: answers
  - id: after
    tool: note
    input: {yes: "{{ answers[0].answer }}", no: "{{ answers[1].answer }}"}
`, nil)
		run = w.await(run.ID, fermata.TaskBlocked)
		for i, s := range run.Steps[1:] {
			q, err := w.Engine.Question(w.Context(), ann, s.QuestionID)
			w.OK(err)
			w.answer(q, fermata.Answer{Answer: i == 0})
		}
		run = w.await(run.ID, fermata.TaskDone)
		if got := string(run.Steps[len(run.Steps)-1].Input); got != `{"no":false,"yes":true}` {
			w.Fatalf("after got %s", got)
		}
	})
}

func TestChildRun(t *testing.T) {
	onBoth(t, func(w *world) {
		w.put(`
name: inner
triggers: [{manual: true}]
inputs: {what: {type: string, required: true}}
steps:
  - {id: ask, tool: post_question, suspend: true, input: {question: "Is {{ inputs.what }} right?", responseType: boolean, timeout: never}, output: said}
`)
		run := w.run(`
name: outer
triggers: [{manual: true}]
steps:
  - {id: sub, tool: workflow, input: {name: inner, inputs: {what: it}}, output: result}
  - {id: after, tool: note, input: {said: "{{ result.said.answer }}"}}
`, nil)
		run = w.await(run.ID, fermata.TaskBlocked)
		child := run.Steps[0].ChildID
		q := w.awaitRunQuestion(child)
		if q.Items[0].Prompt != "Is it right?" {
			w.Fatalf("the child asks %q", q.Items[0].Prompt)
		}
		w.answer(q, fermata.Answer{Answer: true})
		run = w.await(run.ID, fermata.TaskDone)
		if got := string(run.Steps[1].Input); got != `{"said":true}` {
			w.Fatalf("after got %s", got)
		}
	})
}

func TestAgentStepIsATaskForAWorker(t *testing.T) {
	onBoth(t, func(w *world) {
		_, err := w.s.PutNamedTool(w.Context(), admin, &fermata.NamedTool{
			Name: "analyze_issue", Agent: &fermata.AgentTool{Runner: "claude", Prompt: "Read issue {{ inputs.issue }}."},
			Schema: []byte(`{"type":"object","required":["confidence"],"properties":{"confidence":{"type":"number"}}}`),
		})
		w.OK(err)
		run := w.run(`
name: delegate
triggers: [{manual: true}]
inputs: {issue: {type: number, required: true}}
steps:
  - {id: look, tool: analyze_issue, timeout: 30m, output: analysis}
  - {id: after, tool: note, input: {sure: "{{ analysis.confidence > 50 }}"}}
`, map[string]any{"issue": 7})
		claim, err := w.Engine.Claim(w.Context(), worker, fermata.ClaimRequest{Worker: "w1", Runners: []string{"claude"}, WaitSeconds: 20})
		w.OK(err)
		if !strings.HasPrefix(claim.Task.Body, "Read issue 7.") || claim.Task.ParentID != run.ID || !strings.Contains(string(claim.Task.Spec), run.ID) || !strings.Contains(string(claim.Task.Spec), `"timeout":"30m0s"`) {
			w.Fatalf("the task is %s", asJSON(claim.Task))
		}
		_, err = w.Engine.Finish(w.Context(), worker, claim.Run.ID, fermata.Finish{
			Token: claim.Run.Token, Result: fermata.ResultCompleted, Details: []byte(`{"confidence":72}`),
		})
		w.OK(err)
		run = w.await(run.ID, fermata.TaskDone)
		if got := string(run.Steps[1].Input); got != `{"sure":true}` {
			w.Fatalf("after got %s", got)
		}
	})
}

// The last message of every agent program is the summary of its step.
func TestAnAgentThatIsAnyProgramHasASummary(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(`
name: summed
triggers: [{manual: true}]
inputs: {issue: {type: number}}
steps:
  - {id: look, tool: agent, output: seen, input: {prompt: Look., runner: command}}
  - {id: after, tool: note, input: {said: "{{ seen.summary }}", code: "{{ seen.exit_code }}"}}
`, nil)
		if run.Title != "summed" {
			w.Errorf("a run without an issue is named %q", run.Title)
		}
		claim, err := w.Engine.Claim(w.Context(), worker, fermata.ClaimRequest{Worker: "w1", Runners: []string{"command"}, WaitSeconds: 20})
		w.OK(err)
		_, err = w.Engine.Finish(w.Context(), worker, claim.Run.ID, fermata.Finish{
			Token: claim.Run.Token, Result: fermata.ResultCompleted, Summary: "all is well", Details: []byte(`{"exit_code":0,"output":"I looked.\nall is well\n"}`),
		})
		w.OK(err)
		run = w.await(run.ID, fermata.TaskDone)
		if got := string(run.Steps[1].Input); got != `{"code":0,"said":"all is well"}` {
			w.Errorf("after got %s", got)
		}
	})
}

func TestConfidenceDecides(t *testing.T) {
	onBoth(t, func(w *world) {
		for _, tt := range []struct {
			confidence int
			state      fermata.TaskState
			note       string
		}{
			{95, fermata.TaskDone, "decided by the threshold of confidence, not by a person"},
			{20, fermata.TaskSkipped, "the confidence 20 is below the threshold 50 (both count from 0 to 100): set aside for manual work"},
		} {
			run := w.run(`
name: routed
triggers: [{manual: true}]
inputs: {sure: {type: number, required: true}}
confidence: {auto: 80, ask: 50}
steps:
  - id: decide
    tool: post_question
    suspend: true
    input: {question: "Which?", options: [a, b], defaultAnswer: a, confidence: "{{ inputs.sure }}"}
    output: decision
  - {id: after, tool: note, input: {source: "{{ decision.source }}", answer: "{{ decision.answer }}"}}
`, map[string]any{"sure": tt.confidence})
			run = w.await(run.ID, tt.state)
			if run.Steps[0].Note != tt.note {
				w.Fatalf("confidence %d: the note is %q", tt.confidence, run.Steps[0].Note)
			}
			if tt.state == fermata.TaskDone && string(run.Steps[1].Input) != `{"answer":"a","source":"auto"}` {
				w.Fatalf("after got %s", run.Steps[1].Input)
			}
		}
	})
}

func TestSecretsAreStoredNowhere(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(`
name: secretive
triggers: [{manual: true}]
steps:
  - {id: call, tool: apply, input: {token: "{{ secrets.API }}"}}
`, nil)
		run = w.await(run.ID, fermata.TaskDone)
		w.tools.mu.Lock()
		defer w.tools.mu.Unlock()
		if w.tools.calls[0].Input["token"] != "s3cret-API" {
			w.Fatalf("the tool got %v", w.tools.calls[0].Input)
		}
		if strings.Contains(asJSON(run), "s3cret") {
			w.Fatalf("the secret is in the run: %s", asJSON(run))
		}
	})
}

func TestWaitStep(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(`
name: patient
triggers: [{manual: true}]
steps:
  - {id: rest, tool: wait, input: {for: 3d}}
  - {id: after, tool: note}
`, nil)
		w.await(run.ID, fermata.TaskDeferred)
		w.Clock.Advance(73 * time.Hour)
		w.wantSteps(w.await(run.ID, fermata.TaskDone), "rest/1:done after/1:done ")
	})
}

func TestRunIsPinnedToItsDefinition(t *testing.T) {
	onBoth(t, func(w *world) {
		setConfidence(w, 40)
		run := w.run(autofix, map[string]any{"issue": 7})
		q := w.awaitRunQuestion(run.ID)
		changed := w.put(strings.ReplaceAll(autofix, "tool: publish", "tool: label"))
		if changed.Hash == run.Hash {
			w.Fatal("another definition has the same hash")
		}
		w.answer(q, fermata.Answer{Answer: "patch"})
		run = w.await(run.ID, fermata.TaskDone)
		if last := run.Steps[len(run.Steps)-1]; last.Tool != "publish" {
			w.Fatalf("the last step used %s", last.Tool)
		}
	})
}

func TestLateAnswerRestarts(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(`
name: late
triggers: [{manual: true}]
steps:
  - {id: ask, tool: post_question, suspend: true, input: {question: "Go?", responseType: boolean, timeoutHours: 1, timeoutAction: fail}, output: said}
  - {id: after, tool: note, input: {go: "{{ said.answer }}"}}
`, nil)
		q := w.awaitRunQuestion(run.ID)
		w.Clock.Advance(2 * time.Hour)
		failed := w.awaitEnd(run.ID)
		if failed.Reason != fermata.ReasonQuestionTimedOut {
			w.Fatalf("the reason is %s", failed.Reason)
		}
		_, err := w.Engine.Answer(w.Context(), ann, q.ID, fermata.Answer{Answer: true, Restart: true})
		if err != nil && fermata.CodeOf(err) != fermata.CodeQuestionClosed {
			w.Fatal(err)
		}
		run = w.await(run.ID, fermata.TaskDone)
		if got := string(run.Steps[1].Input); got != `{"go":true}` {
			w.Fatalf("after got %s", got)
		}
	})
}

func TestConcurrency(t *testing.T) {
	onBoth(t, func(w *world) {
		source := `
name: apart
triggers: [{manual: true}]
inputs: {n: {type: number, required: true}}
concurrency: {key: "all", policy: POLICY}
steps:
  - {id: ask, tool: post_question, suspend: true, input: {question: "Go?", responseType: boolean, timeout: never}}
`
		w.put(strings.ReplaceAll(source, "POLICY", "skip"))
		first, err := w.s.Start(w.Context(), admin, "apart", map[string]any{"n": 1})
		w.OK(err)
		if _, err := w.s.Start(w.Context(), admin, "apart", map[string]any{"n": 2}); fermata.CodeOf(err) != fermata.CodeIllegalTransition {
			w.Fatalf("a second run beside the first: %v", err)
		}
		w.put(strings.ReplaceAll(source, "POLICY", "queue"))
		second, err := w.s.Start(w.Context(), admin, "apart", map[string]any{"n": 2})
		w.OK(err)
		if second.State != fermata.TaskBlocked {
			w.Fatalf("the second run is %s", second.State)
		}
		w.answer(w.awaitRunQuestion(first.ID), fermata.Answer{Answer: true})
		w.await(first.ID, fermata.TaskDone)
		w.awaitRunQuestion(second.ID)
		w.put(strings.ReplaceAll(source, "POLICY", "cancel_previous"))
		third, err := w.s.Start(w.Context(), admin, "apart", map[string]any{"n": 3})
		w.OK(err)
		if got := w.read(second.ID).State; got != fermata.TaskCancelled {
			w.Fatalf("the second run is %s", got)
		}
		w.awaitRunQuestion(third.ID)
	})
}

func TestInputsAreChecked(t *testing.T) {
	t.Parallel()
	onBoth := func(fn func(w *world)) { fn(newWorld(t, sqlite(t))) }
	onBoth(func(w *world) {
		w.put(autofix)
		for _, in := range []map[string]any{nil, {"issue": "seven"}, {"issue": 7, "other": 1}} {
			if _, err := w.s.Start(w.Context(), admin, "autofix", in); fermata.CodeOf(err) != fermata.CodeInvalidRequest {
				w.Errorf("inputs %v: %v", in, err)
			}
		}
		if _, err := w.s.Put(w.Context(), ann, "", workflow.Definition{Source: autofix}); fermata.CodeOf(err) != fermata.CodeForbidden {
			w.Errorf("a responder puts a workflow: %v", err)
		}
	})
}

func TestComingBackToAFailedStepIsANewOccurrence(t *testing.T) {
	onBoth(t, func(w *world) {
		fails := true
		w.tools.on("apply", func(context.Context, tool.Call) (any, error) {
			if fails {
				fails = false
				return nil, errors.New("not yet")
			}
			return "there", nil
		})
		run := w.run(`
name: again
triggers: [{manual: true}]
steps:
  - {id: fetch, tool: apply, on_error: continue}
  - id: enough
    tool: request_approval
    input: {title: "{{ steps.fetch.status }}", timeout: never}
    on_reject: {goto: fetch}
  - {id: after, tool: note, input: {got: "{{ steps.fetch.output }}"}}
`, nil)
		first := w.awaitRunQuestion(run.ID)
		if first.Title != "failed" {
			w.Fatalf("asked %q", first.Title)
		}
		w.answer(first, fermata.Answer{Answer: "reject"})
		patience.Await(w, "the second approval is asked", func() bool {
			r := w.read(run.ID)
			return r.PendingQuestion != nil && r.PendingQuestion.ID != first.ID && r.State == fermata.TaskAwaitingApproval
		})
		w.answer(w.awaitRunQuestion(run.ID), fermata.Answer{Answer: "approve"})
		run = w.await(run.ID, fermata.TaskDone)
		w.wantSteps(run, "fetch/1:failed (tool_failed: not yet) enough/1:rejected fetch/2:done enough/2:done after/1:done ")
	})
}

func TestConditionThatFailedIsLookedAtAgain(t *testing.T) {
	onBoth(t, func(w *world) {
		w.tools.on("analyze", func(context.Context, tool.Call) (any, error) { return map[string]any{"sure": "no"}, nil })
		run := w.run(`
name: conditional
triggers: [{manual: true}]
steps:
  - {id: look, tool: analyze, output: found}
  - {id: act, tool: apply, condition: found.sure}
`, nil)
		if got := w.awaitEnd(run.ID); got.State != fermata.TaskFailed {
			w.Fatalf("the run is %s", got.State)
		}
		_, err := w.s.Retry(w.Context(), admin, run.ID, nil)
		w.OK(err)
		patience.Await(w, "the run failed again", func() bool {
			r := w.read(run.ID)
			return r.State == fermata.TaskFailed && r.Steps[1].Attempt == 2
		})
		if got := w.tools.calledSteps(); !slices.Equal(got, []string{"look"}) {
			w.Fatalf("called %v", got)
		}
	})
}

// The answer to a yes-or-no question selects the goto by the keys yes and no.
// The note of a cancelled step does not stay for the retry.
func TestYesAndNoLeadOn(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(`
name: sure
triggers: [{manual: true}]
steps:
  - id: ask
    tool: post_question
    suspend: true
    input: {question: "Sure?", responseType: boolean, timeout: never, confidence: 61.5, metadata: {times: 3}}
    on_resume: {goto: {yes: ship}}
  - {id: more, tool: note}
  - {id: ship, tool: note}
`, nil)
		w.awaitRunQuestion(run.ID)
		_, err := w.Engine.CancelTask(w.Context(), admin, run.ID, "not now")
		w.OK(err)
		if note := w.read(run.ID).Steps[0].Note; note != "the run ended" {
			w.Fatalf("the step that was cancelled says %q", note)
		}
		_, err = w.s.Retry(w.Context(), admin, run.ID, nil)
		w.OK(err)
		q := w.awaitRunQuestion(run.ID)
		if note := w.read(run.ID).Steps[0].Note; note != "" || *q.Confidence != 61 || q.Metadata["times"] != "3" {
			w.Errorf("asked again with the note %q, %d, %v", note, *q.Confidence, q.Metadata)
		}
		w.answer(q, fermata.Answer{Answer: true})
		run = w.await(run.ID, fermata.TaskDone)
		w.wantSteps(run, "ask/1:done more/1:skipped ship/1:done ")
	})
}

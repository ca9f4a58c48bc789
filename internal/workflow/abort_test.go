package workflow_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
)

// A person who ends a run as failed ends its other branches, too: their questions, commands, waits and items. A retry
// does all of them again.
func TestAPersonEndsARunWithItsBranches(t *testing.T) {
	onBoth(t, func(w *world) {
		mend := w.breakTool("check")
		run := w.run(forked(`
steps:
  - {id: fail, tool: check, on_error: ask}
  - {id: beside, tool: check, needs: [], on_error: ask}
  - {id: ask, tool: post_question, suspend: true, needs: [], input: {question: "A?", options: [x], timeout: never}}
  - {id: command, tool: shell, needs: [], input: {command: [sleep, "1"]}}
  - {id: rest, tool: wait, needs: [], input: {for: 3d}}
  - {id: join, tool: publish, needs: [fail, beside, ask, command, rest]}
finally:
  - {id: tidy, tool: note}
  - {id: sweep, tool: note, needs: []}
`), nil)
		open := w.awaitQuestions(run.ID, "fail", "beside", "ask")
		abort, ok := open["fail"].Item(fermata.RemedyKey).Option(fermata.RemedyAbort)
		if !ok || !strings.Contains(abort.Description, "other branches") {
			w.Fatalf("the options are %+v", open["fail"].Items)
		}
		w.answer(open["fail"], fermata.Answer{Answers: map[string]any{"action": "abort"}})
		run = w.await(run.ID, fermata.TaskFailed)
		if got := w.outcomes(run.ID); got != "ask/1:cancelled beside/1:cancelled command/1:cancelled fail/1:failed rest/1:cancelled sweep/1:done tidy/1:done" {
			w.Fatalf("got %s", got)
		}
		if run.Reason != fermata.ReasonAborted {
			w.Errorf("the reason is %s", run.Reason)
		}
		for _, step := range []string{"ask", "beside"} {
			q, err := w.Engine.Question(w.Context(), admin, open[step].ID)
			w.OK(err)
			if q.Status != fermata.Cancelled {
				w.Errorf("the question of %s is %s", step, q.Status)
			}
		}
		mend()
		_, err := w.s.Retry(w.Context(), admin, run.ID, nil)
		w.OK(err)
		w.awaitQuestions(run.ID, "ask")
		w.awaitStepState(run.ID, "fail", fermata.StepDone)
		w.awaitStepState(run.ID, "beside", fermata.StepDone)
		w.awaitStepState(run.ID, "command", fermata.StepWaiting)
	})
}

// The second of two failed branches ends the run as the first one does.
func TestAPersonEndsARunThatFailsAlready(t *testing.T) {
	onBoth(t, func(w *world) {
		w.breakTool("check")
		run := w.run(forked(`
steps:
  - {id: gone, tool: check}
  - {id: fail, tool: check, needs: [], on_error: ask}
  - {id: ask, tool: post_question, suspend: true, needs: [], input: {question: "A?", options: [x], timeout: never}}
`), nil)
		open := w.awaitQuestions(run.ID, "fail", "ask")
		w.awaitStepState(run.ID, "gone", fermata.StepFailed)
		w.answer(open["fail"], fermata.Answer{Answers: map[string]any{"action": "abort"}})
		w.await(run.ID, fermata.TaskFailed)
		if got := w.outcomes(run.ID); got != "ask/1:cancelled fail/1:failed gone/1:failed" {
			w.Fatalf("got %s", got)
		}
	})
}

// A question about an error that is withdrawn decides nothing about other branches.
func TestAWithdrawnQuestionEndsOneBranch(t *testing.T) {
	onBoth(t, func(w *world) {
		w.breakTool("check")
		run := w.run(forked(`
steps:
  - {id: fail, tool: check, on_error: ask}
  - {id: ask, tool: post_question, suspend: true, needs: [], input: {question: "A?", options: [x], timeout: never}}
`), nil)
		open := w.awaitQuestions(run.ID, "fail", "ask")
		_, err := w.Engine.CancelQuestion(w.Context(), admin, open["fail"].ID, "")
		w.OK(err)
		w.awaitStepState(run.ID, "fail", fermata.StepFailed)
		w.answer(w.awaitQuestions(run.ID, "ask")["ask"], fermata.Answer{Answer: "x"})
		w.await(run.ID, fermata.TaskFailed)
		if got := w.outcomes(run.ID); got != "ask/1:done fail/1:failed" {
			w.Fatalf("got %s", got)
		}
	})
}

// The child of a step that asks in a branch is the task of its present question.
func TestTheChildOfAStepBelongsToItsQuestion(t *testing.T) {
	onBoth(t, func(w *world) {
		w.breakTool("check")
		run := w.run(forked(`
steps:
  - {id: fail, tool: check, on_error: ask}
  - {id: command, tool: shell, needs: [], on_error: ask, input: {command: [make]}}
  - {id: ask, tool: post_question, suspend: true, needs: [], input: {question: "A?", options: [x], timeout: never}}
`), nil)
		work := w.work(fermata.Finish{Result: fermata.ResultFailed, Summary: "no luck"})
		first := w.awaitQuestions(run.ID, "fail", "command", "ask")
		_, err := w.Engine.CancelTask(w.Context(), admin, run.ID, "")
		w.OK(err)
		_, err = w.s.Retry(w.Context(), admin, run.ID, nil)
		w.OK(err)
		again := w.work(fermata.Finish{Result: fermata.ResultFailed, Summary: "no luck"})
		if again.ID == work.ID {
			w.Fatal("the command was not given out again")
		}
		second := w.awaitQuestions(run.ID, "fail", "command", "ask")
		for _, step := range w.read(run.ID).Steps {
			want := second[step.Step].TaskID
			if step.Step == "command" {
				want = again.ID
			}
			if second[step.Step].ID == first[step.Step].ID || step.ChildID != want {
				w.Errorf("the child of %s is %s, want %s", step.Step, step.ChildID, want)
			}
		}
	})
}

// With fail_fast, a call that is under way when another step fails is not tried again if it fails, too, and nobody is
// asked about it. A repeat begins no other round.
func TestACallThatEndsAfterAnotherStepFailed(t *testing.T) {
	onBoth(t, func(w *world) {
		began, failed := make(chan struct{}, 2), make(chan struct{})
		await := func(ctx context.Context, c <-chan struct{}) {
			select {
			case <-c:
			case <-ctx.Done():
			}
		}
		w.tools.on("check", func(ctx context.Context, _ tool.Call) (any, error) {
			await(ctx, began)
			await(ctx, began)
			return nil, errors.New("no luck")
		})
		w.tools.on("apply", func(ctx context.Context, c tool.Call) (any, error) {
			began <- struct{}{}
			await(ctx, failed)
			if c.Step == "asks" {
				return nil, tool.MarkSafeToRetry(errors.New("no luck either"))
			}
			return nil, nil
		})
		run := w.run(forked(`
fail_fast: true
steps:
  - {id: fail, tool: check}
  - {id: asks, tool: apply, needs: [], on_error: ask, retry: {attempts: 5}}
  - {id: again, tool: apply, needs: [], repeat: {until: "run.occurrence > 3"}}
`), nil)
		w.awaitStepState(run.ID, "fail", fermata.StepFailed)
		close(failed)
		w.await(run.ID, fermata.TaskFailed)
		if got := w.outcomes(run.ID); got != "again/1:done asks/1:failed fail/1:failed" {
			w.Fatalf("got %s", got)
		}
	})
}

// A run that was cancelled after one of its branches failed does that branch again when it is retried.
func TestARetryOfACancelledRunDoesItsFailedBranchAgain(t *testing.T) {
	onBoth(t, func(w *world) {
		mend := w.breakTool("apply")
		run := w.run(forked(`
steps:
  - {id: fail, tool: apply, needs: []}
  - {id: ask, tool: post_question, suspend: true, needs: [], input: {question: "A?", options: [x], timeout: never}}
  - {id: join, tool: note, needs: [fail, ask]}
`), nil)
		w.awaitStepState(run.ID, "fail", fermata.StepFailed)
		w.awaitQuestions(run.ID, "ask")
		w.cancel(run.ID)
		w.await(run.ID, fermata.TaskCancelled)
		mend()
		_, err := w.s.Retry(w.Context(), admin, run.ID, nil)
		w.OK(err)
		w.answer(w.awaitQuestions(run.ID, "ask")["ask"], fermata.Answer{Answer: "x"})
		w.await(run.ID, fermata.TaskDone)
		if got := w.outcomes(run.ID); got != "ask/1:done fail/1:done join/1:done" {
			w.Errorf("the steps are %s", got)
		}
	})
}

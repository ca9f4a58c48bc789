package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow"
	"github.com/fermata-hq/fermata/test/patience"
)

// forked returns a workflow with a manual trigger and the steps.
func forked(steps string) string { return "name: forked\ntriggers: [{manual: true}]\n" + steps }

// awaitQuestions waits until exactly the questions of these steps are open, and returns them.
func (w *world) awaitQuestions(id string, steps ...string) map[string]*fermata.Question {
	w.Helper()
	var open map[string]*fermata.Question
	patience.Await(w, fmt.Sprintf("questions of %v are open", steps), func() bool {
		open = map[string]*fermata.Question{}
		run := w.read(id)
		for _, s := range run.Steps {
			if s.QuestionID == "" || s.State.IsEnded() {
				continue
			}
			if q, err := w.Engine.Question(w.Context(), admin, s.QuestionID); err == nil && q.Status == fermata.Pending {
				open[s.Step] = q
			}
		}
		return len(open) == len(steps) && !slices.ContainsFunc(steps, func(step string) bool { return open[step] == nil })
	})
	return open
}

// breakTool makes a tool fail with the name of the step as its error, until the returned function is called.
func (w *world) breakTool(name string) (mend func()) {
	var works atomic.Bool
	w.tools.on(name, func(_ context.Context, c tool.Call) (any, error) {
		if !works.Load() {
			return nil, errors.New("no luck with " + c.Step)
		}
		return map[string]any{"ok": true}, nil
	})
	return func() { works.Store(true) }
}

// awaitStepState waits until the last occurrence of a step is in a state.
func (w *world) awaitStepState(id, step string, want fermata.StepState) {
	w.Helper()
	patience.Await(w, fmt.Sprintf("the step %s is %s", step, want), func() bool {
		var last fermata.StepState
		for _, s := range w.read(id).Steps {
			if s.Step == step {
				last = s.State
			}
		}
		return last == want
	})
}

// outcomes returns the states of the last occurrences of the steps, sorted by their names.
func (w *world) outcomes(id string) string {
	w.Helper()
	last := map[string]string{}
	for _, s := range w.read(id).Steps {
		if s.Item == nil {
			last[s.Step] = fmt.Sprintf("%s/%d:%s", s.Step, s.Occurrence, s.State)
		}
	}
	var all []string
	for _, text := range last {
		all = append(all, text)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// TestStepsSideBySide has two steps, each of which ends only when the other has begun.
func TestStepsSideBySide(t *testing.T) {
	onBoth(t, func(w *world) {
		var both sync.WaitGroup
		both.Add(2)
		w.tools.on("check", func(_ context.Context, c tool.Call) (any, error) {
			both.Done()
			met := make(chan struct{})
			go func() { both.Wait(); close(met) }()
			select {
			case <-met:
			case <-time.After(patience.Limit()):
				return nil, errors.New("nobody came")
			}
			return map[string]any{"from": c.Step}, nil
		})
		run := w.run(forked(`
steps:
  - {id: first, tool: note}
  - {id: left, tool: check, output: l}
  - {id: after_left, tool: note, input: {x: "{{ l.from }}"}}
  - {id: right, tool: check, needs: [first], output: r}
  - {id: alone, tool: note, needs: []}
  - {id: last, tool: publish, needs: [after_left, right], input: {both: "{{ l.from + r.from }}"}}
`), nil)
		run = w.await(run.ID, fermata.TaskDone)
		if got, want := w.outcomes(run.ID), "after_left/1:done alone/1:done first/1:done last/1:done left/1:done right/1:done"; got != want {
			w.Fatalf("got %s", got)
		}
		called := w.tools.calledSteps()
		if called[len(called)-1] != "last" || run.Summary != "6 of 6 steps done." {
			w.Fatalf("called %v: %s", called, run.Summary)
		}
		if got := string(run.Steps[len(run.Steps)-1].Input); got != `{"both":"leftright"}` {
			w.Fatalf("the last step got %s", got)
		}
	})
}

const twoBranches = `
steps:
  - {id: plan, tool: note}
  - {id: ask_a, tool: post_question, suspend: true, input: {question: "A?", options: [x, y], timeout: never}, output: a}
  - {id: do_a, tool: apply, input: {a: "{{ a.answer }}"}}
  - {id: ask_b, tool: request_approval, needs: [plan], input: {title: "B?", action: {tool: make}, timeout: never}}
  - {id: do_b, tool: apply}
  - {id: join, tool: publish, needs: [do_a, do_b]}
`

// TestBranchesAskAtOnce has open questions of two branches at the same time. Each branch continues with its own answer.
func TestBranchesAskAtOnce(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(forked(twoBranches), nil)
		open := w.awaitQuestions(run.ID, "ask_a", "ask_b")
		w.answer(open["ask_b"], fermata.Answer{Answer: fermata.Approve})
		w.awaitStepState(run.ID, "do_b", fermata.StepDone)
		w.awaitStepState(run.ID, "ask_a", fermata.StepWaiting)
		if got := w.tools.calledSteps(); slices.Contains(got, "join") {
			w.Fatalf("called %v before the branches met", got)
		}
		w.answer(open["ask_a"], fermata.Answer{Answer: "y"})
		run = w.await(run.ID, fermata.TaskDone)
		if got := w.outcomes(run.ID); got != "ask_a/1:done ask_b/1:done do_a/1:done do_b/1:done join/1:done plan/1:done" {
			w.Fatalf("got %s", got)
		}
	})
}

// TestARejectedBranch does no step after the rejection. The other branch comes to its end, and the run fails.
func TestARejectedBranch(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(forked(twoBranches), nil)
		open := w.awaitQuestions(run.ID, "ask_a", "ask_b")
		w.answer(open["ask_b"], fermata.Answer{Answer: fermata.Reject, Comment: "not now"})
		w.awaitStepState(run.ID, "ask_b", fermata.StepRejected)
		w.answer(open["ask_a"], fermata.Answer{Answer: "x"})
		run = w.await(run.ID, fermata.TaskFailed)
		if got := w.outcomes(run.ID); got != "ask_a/1:done ask_b/1:rejected do_a/1:done plan/1:done" || run.Reason != fermata.ReasonRejected || !strings.Contains(run.Summary, "not now") {
			w.Fatalf("got %s: %s, %s", got, run.Reason, run.Summary)
		}
		// A retry continues where the branch was rejected, and only there.
		_, err := w.s.Retry(w.Context(), admin, run.ID, nil)
		w.OK(err)
		w.answer(w.awaitRunQuestion(run.ID), fermata.Answer{Answer: fermata.Approve})
		w.await(run.ID, fermata.TaskDone)
		if got := w.outcomes(run.ID); got != "ask_a/1:done ask_b/1:done do_a/1:done do_b/1:done join/1:done plan/1:done" {
			w.Fatalf("got %s", got)
		}
		if got := w.tools.calledSteps(); len(got) != 4 {
			w.Fatalf("called %v", got)
		}
	})
}

// TestFailFast cancels the steps parallel to a failed one: a question, a command, a wait, and items. A retry does all
// of them again.
func TestFailFast(t *testing.T) {
	onBoth(t, func(w *world) {
		mend := w.breakTool("check")
		run := w.run(forked(`
fail_fast: true
steps:
  - {id: ask, tool: post_question, suspend: true, input: {question: "A?", options: [x], timeout: never}}
  - {id: behind, tool: note}
  - {id: command, tool: shell, needs: [], input: {command: [sleep, "1"]}}
  - {id: rest, tool: wait, needs: [], input: {for: 3d}}
  - {id: each, tool: post_question, suspend: true, needs: [], foreach: [1, 2], parallel: 2, input: {question: "{{ string(item) }}?", options: [x], timeout: never}}
  - {id: gate, tool: post_question, suspend: true, needs: [], input: {question: "Go?", options: [x], timeout: never}}
  - {id: fail, tool: check}
  - {id: join, tool: publish, needs: [behind, command, rest, each, fail]}
`), nil)
		open := w.awaitQuestions(run.ID, "ask", "gate", "each")
		w.answer(open["gate"], fermata.Answer{Answer: "x"})
		run = w.await(run.ID, fermata.TaskFailed)
		if got := w.outcomes(run.ID); got != "ask/1:cancelled command/1:cancelled each/1:cancelled fail/1:failed gate/1:done rest/1:cancelled" {
			w.Fatalf("got %s", got)
		}
		for _, q := range []*fermata.Question{open["ask"], open["each"]} {
			q, err := w.Engine.Question(w.Context(), admin, q.ID)
			w.OK(err)
			if q.Status != fermata.Cancelled {
				w.Fatalf("the question %s is %s", q.Title, q.Status)
			}
		}
		for _, s := range run.Steps {
			if s.Step == "command" {
				task, err := w.Engine.Task(w.Context(), admin, s.ChildID)
				w.OK(err)
				if task.State != fermata.TaskCancelled || s.Note != "the step fail failed" {
					w.Fatalf("the command is %s: %s", task.State, s.Note)
				}
			}
		}
		mend()
		_, err := w.s.Retry(w.Context(), admin, run.ID, nil)
		w.OK(err)
		open = w.awaitQuestions(run.ID, "ask", "each")
		w.awaitStepState(run.ID, "fail", fermata.StepDone)
		w.awaitStepState(run.ID, "rest", fermata.StepWaiting)
		w.answer(open["ask"], fermata.Answer{Answer: "x"})
		w.awaitStepState(run.ID, "behind", fermata.StepDone)
	})
}

// TestAFailureBeside lets the other branches come to their end. Both failures are reported, and a retry does both steps
// again.
func TestAFailureBeside(t *testing.T) {
	onBoth(t, func(w *world) {
		mend := w.breakTool("check")
		run := w.run(forked(`
steps:
  - {id: one, tool: check}
  - {id: behind_one, tool: note}
  - {id: two, tool: check, needs: []}
  - {id: three, tool: note, needs: []}
  - {id: behind_three, tool: note}
on_failure:
  - {id: tell, tool: note, input: {why: "{{ failure.step }}"}}
  - {id: also, tool: note, needs: []}
finally:
  - {id: tidy, tool: note}
`), nil)
		run = w.await(run.ID, fermata.TaskFailed)
		if got := w.outcomes(run.ID); got != "also/1:done behind_three/1:done one/1:failed tell/1:done three/1:done tidy/1:done two/1:failed" {
			w.Fatalf("got %s", got)
		}
		if !strings.Contains(run.Summary, "no luck with one") || !strings.Contains(run.Summary, "no luck with two") {
			w.Fatalf("the summary is %s", run.Summary)
		}
		mend()
		_, err := w.s.Retry(w.Context(), admin, run.ID, nil)
		w.OK(err)
		w.await(run.ID, fermata.TaskDone)
		if got := w.outcomes(run.ID); got != "also/1:done behind_one/1:done behind_three/1:done one/1:done tell/1:done three/1:done tidy/2:done two/1:done" {
			w.Fatalf("got %s", got)
		}
	})
}

// TestABranchWaits has a wait and a question in parallel. Each branch continues at its own event.
func TestABranchWaits(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(forked(`
steps:
  - {id: rest, tool: wait, input: {for: 2h}}
  - {id: rested, tool: note}
  - {id: longer, tool: wait, needs: [], input: {for: 9h}}
  - {id: ask, tool: post_question, suspend: true, needs: [], input: {question: "A?", options: [x], timeout: never}}
  - {id: asked, tool: note}
`), nil)
		open := w.awaitQuestions(run.ID, "ask")
		w.await(run.ID, fermata.TaskBlocked)
		w.Clock.Advance(3 * time.Hour)
		w.awaitStepState(run.ID, "rested", fermata.StepDone)
		w.awaitStepState(run.ID, "ask", fermata.StepWaiting)
		w.answer(open["ask"], fermata.Answer{Answer: "x"})
		w.awaitStepState(run.ID, "asked", fermata.StepDone)
		w.awaitStepState(run.ID, "longer", fermata.StepWaiting)
		w.await(run.ID, fermata.TaskDeferred, fermata.TaskBlocked)
		w.Clock.Advance(7 * time.Hour)
		w.await(run.ID, fermata.TaskDone)
		if got := w.outcomes(run.ID); got != "ask/1:done asked/1:done longer/1:done rest/1:done rested/1:done" {
			w.Fatalf("got %s", got)
		}
		for _, s := range w.read(run.ID).Steps {
			if s.Note != "" {
				w.Fatalf("%s: %s", s.Step, s.Note)
			}
		}
	})
}

// TestABranchGoesBack goes back in one branch, by an answer and by a repeat, while the other branch waits.
func TestABranchGoesBack(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(forked(`
steps:
  - {id: draft, tool: note, output: text}
  - {id: review, tool: post_question, suspend: true, input: {question: "Good?", options: [again, good, skip], timeout: never}, on_resume: {goto: {again: draft, skip: sent}}}
  - {id: polish, tool: note}
  - {id: sent, tool: note}
  - {id: tries, tool: note, needs: [], input: {n: "{{ run.occurrence }}"}, output: tried, repeat: {until: tried.n == 3, max: 4}}
  - {id: tried_enough, tool: note}
  - {id: hold, tool: post_question, suspend: true, needs: [], input: {question: "Hold?", options: [x], timeout: never}}
  - {id: end_of_it, tool: publish, needs: [sent, hold, tried_enough]}
`), nil)
		open := w.awaitQuestions(run.ID, "review", "hold")
		w.answer(open["review"], fermata.Answer{Answer: "again"})
		w.awaitStepState(run.ID, "tried_enough", fermata.StepDone)
		patience.Await(w, "it is asked again", func() bool {
			return strings.Contains(w.outcomes(run.ID), "review/2:waiting")
		})
		open = w.awaitQuestions(run.ID, "review", "hold")
		w.answer(open["review"], fermata.Answer{Answer: "skip"})
		w.awaitStepState(run.ID, "sent", fermata.StepDone)
		w.awaitStepState(run.ID, "hold", fermata.StepWaiting)
		w.answer(open["hold"], fermata.Answer{Answer: "x"})
		w.await(run.ID, fermata.TaskDone)
		if got := w.outcomes(run.ID); got != "draft/2:done end_of_it/1:done hold/1:done polish/1:skipped review/2:done sent/1:done tried_enough/1:done tries/3:done" {
			w.Fatalf("got %s", got)
		}
	})
}

// TestABranchIsSetAside sets one branch aside, because its confidence is below the threshold for asking.
func TestABranchIsSetAside(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(forked(`
steps:
  - {id: sure, tool: post_question, suspend: true, confidence: {auto: 80}, input: {question: "A?", options: [x, y], default: y, confidence: 90, timeout: never}, output: a}
  - {id: after_sure, tool: note, input: {a: "{{ a.answer }}"}}
  - {id: unsure, tool: post_question, suspend: true, needs: [], confidence: {ask: 50}, input: {question: "B?", options: [x], confidence: 20, timeout: never}}
  - {id: after_unsure, tool: note}
  - {id: hold, tool: post_question, suspend: true, needs: [], input: {question: "Hold?", options: [x], timeout: never}}
`), nil)
		open := w.awaitQuestions(run.ID, "hold")
		w.awaitStepState(run.ID, "after_sure", fermata.StepDone)
		w.awaitStepState(run.ID, "unsure", fermata.StepSkipped)
		w.answer(open["hold"], fermata.Answer{Answer: "x"})
		run = w.await(run.ID, fermata.TaskSkipped)
		if got := w.outcomes(run.ID); got != "after_sure/1:done hold/1:done sure/1:done unsure/1:skipped" || run.Reason != fermata.ReasonLowConfidence {
			w.Fatalf("got %s: %s", got, run.Reason)
		}
	})
}

// TestABranchMeetsSilence lets the deadline of one branch pass, so that this branch takes another path. Another branch
// asks what to do about an error.
func TestABranchMeetsSilence(t *testing.T) {
	onBoth(t, func(w *world) {
		mend := w.breakTool("check")
		run := w.run(forked(`
steps:
  - {id: ask, tool: post_question, suspend: true, input: {question: "A?", options: [x], timeout: 1h, timeoutAction: skip}, on_timeout: {tool: label, goto: late}}
  - {id: early, tool: note}
  - {id: late, tool: note}
  - {id: risky, tool: check, needs: [], on_error: ask}
  - {id: hold, tool: post_question, suspend: true, needs: [], input: {question: "Hold?", options: [x], timeout: never}}
`), nil)
		open := w.awaitQuestions(run.ID, "ask", "risky", "hold")
		mend()
		w.answer(open["risky"], fermata.Answer{Answers: map[string]any{"action": "retry"}})
		w.awaitStepState(run.ID, "risky", fermata.StepDone)
		w.await(run.ID, fermata.TaskBlocked)
		w.Clock.Advance(2 * time.Hour)
		w.awaitStepState(run.ID, "late", fermata.StepDone)
		w.answer(open["hold"], fermata.Answer{Answer: "x"})
		w.await(run.ID, fermata.TaskDone)
		if got := w.outcomes(run.ID); got != "ask.on_timeout/1:done ask/1:skipped early/1:skipped hold/1:done late/1:done risky/1:done" {
			w.Fatalf("got %s", got)
		}
	})
}

// TestALateAnswerInABranch checks that a late answer is stored, and that a request to restart the run with it is
// refused.
func TestALateAnswerInABranch(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(forked(`
steps:
  - {id: ask, tool: post_question, suspend: true, input: {question: "A?", options: [x], timeout: 1h, timeoutAction: fail}}
  - {id: beside, tool: post_question, suspend: true, needs: [], input: {question: "B?", options: [x], timeout: 1h, timeoutAction: fail}}
`), nil)
		open := w.awaitQuestions(run.ID, "ask", "beside")
		w.await(run.ID, fermata.TaskBlocked)
		w.Clock.Advance(2 * time.Hour)
		w.await(run.ID, fermata.TaskFailed)
		_, err := w.Engine.Answer(w.Context(), ann, open["ask"].ID, fermata.Answer{Answer: "x", Restart: true})
		if fermata.CodeOf(err) != fermata.CodeIllegalTransition {
			w.Fatalf("got %v", err)
		}
		w.answer(open["ask"], fermata.Answer{Answer: "x"})
		q, err := w.Engine.Question(w.Context(), admin, open["ask"].ID)
		w.OK(err)
		if len(q.Resolution.LateAnswers) != 1 || w.read(run.ID).State != fermata.TaskFailed {
			w.Fatalf("got %s", asJSON(q.Resolution))
		}
	})
}

// TestACancelledRunOfBranches checks that a cancellation ends all tasks below the run. A retry does them again.
func TestACancelledRunOfBranches(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(forked(twoBranches), nil)
		open := w.awaitQuestions(run.ID, "ask_a", "ask_b")
		_, err := w.Engine.CancelTask(w.Context(), admin, run.ID, "enough")
		w.OK(err)
		w.await(run.ID, fermata.TaskCancelled)
		for _, q := range open {
			q, err := w.Engine.Question(w.Context(), admin, q.ID)
			w.OK(err)
			if q.Status != fermata.Cancelled {
				w.Fatalf("the question %s is %s", q.Title, q.Status)
			}
		}
		_, err = w.s.Retry(w.Context(), admin, run.ID, nil)
		w.OK(err)
		open = w.awaitQuestions(run.ID, "ask_a", "ask_b")
		w.answer(open["ask_a"], fermata.Answer{Answer: "x"})
		w.answer(open["ask_b"], fermata.Answer{Answer: fermata.Approve})
		w.await(run.ID, fermata.TaskDone)
	})
}

// TestItemsSlide checks that the next item begins as soon as any item has ended.
func TestItemsSlide(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(forked(`
steps:
  - {id: each, tool: post_question, suspend: true, foreach: [1, 2, 3, 4], parallel: 2, input: {question: "{{ string(item) }}?", options: [x], timeout: never}}
`), nil)
		pending := func(n int) []*fermata.Question {
			var all []*fermata.Question
			patience.Await(w, fmt.Sprintf("%d items are asked about", n), func() bool {
				all = nil
				for _, s := range w.read(run.ID).Steps {
					if s.Item == nil || s.QuestionID == "" || s.State.IsEnded() {
						continue
					}
					q, err := w.Engine.Question(w.Context(), admin, s.QuestionID)
					w.OK(err)
					all = append(all, q)
				}
				return len(all) == n && w.read(run.ID).State == fermata.TaskBlocked
			})
			return all
		}
		first := pending(2)
		for _, want := range []string{"3?", "4?"} {
			all := pending(2)
			w.answer(all[1], fermata.Answer{Answer: "x"})
			patience.Await(w, "the next item is asked about", func() bool {
				return slices.ContainsFunc(pending(2), func(q *fermata.Question) bool { return q.Title == want })
			})
		}
		if all := pending(2); all[0].ID != first[0].ID {
			w.Fatalf("the first item is %s", all[0].Title)
		}
		for _, q := range pending(2) {
			w.answer(q, fermata.Answer{Answer: "x"})
		}
		w.await(run.ID, fermata.TaskDone)
	})
}

// TestBranchesInATest plays branches from a script, with waiting times between.
func TestBranchesInATest(t *testing.T) {
	t.Parallel()
	report, err := workflow.Simulate(t.Context(), []byte(forked(`
steps:
  - {id: ask_a, tool: post_question, suspend: true, input: {question: "A?", options: [x, y], timeout: never}, output: a}
  - {id: rest, tool: wait, needs: [], input: {for: 3d}}
  - {id: ask_b, tool: post_question, suspend: true, needs: [], input: {question: "B?", options: [x, y], timeout: 1h, timeoutAction: skip}, on_timeout: {goto: join}}
  - {id: more, tool: notify, input: {text: more}}
  - {id: join, tool: notify, needs: [ask_a, rest, more], input: {text: "{{ a.answer }}"}}
`)), []byte(`
answers: {ask_a: y, ask_b: {timeout: true}}
expect: {state: done, steps: {join: done, more: skipped, rest: done}, input: {join: {text: y}}}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !report.Passed {
		t.Fatalf("%s", must(json.Marshal(report.Failures)))
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		return []byte(err.Error())
	}
	return b
}

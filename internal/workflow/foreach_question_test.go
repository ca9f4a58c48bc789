package workflow_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
)

// askForEach returns a workflow that asks for two items, and what its question says about silence.
func askForEach(input, more string) string {
	return fmt.Sprintf(`
name: asking
triggers: [{manual: true}]
steps:
  - {id: ask, tool: post_question, suspend: true, foreach: [a, b], parallel: 2, input: {question: "Where does {{ item }} go?", options: [left, right], timeout: 1h, %s}%s}
  - {id: next, tool: note, input: {answers: "{{ map(steps.ask.output, #?.answer) }}", status: "{{ steps.ask.status }}", error: "{{ steps.ask.error?.code }}"}}
`, input, more)
}

// passDeadlines answers the open question of the item a, if there is an answer, and then lets the deadline pass.
func (w *world) passDeadlines(id string, answer any) {
	w.Helper()
	patience.Await(w, "both items ask", func() bool {
		if run := w.read(id); run.State.IsEnded() {
			w.Fatalf("the run is %s: %s", run.State, run.Summary)
		}
		return len(w.openItemQuestions(id)) == 2
	})
	if answer != nil {
		w.answer(w.openItemQuestions(id)[0], fermata.Answer{Answer: answer})
		patience.Await(w, "the first item has ended", func() bool {
			run := w.read(id)
			return len(w.openItemQuestions(id)) == 1 && run.State != fermata.TaskInProgress && run.State != fermata.TaskOpen
		})
	}
	w.Clock.Advance(2 * time.Hour)
}

// An item whose question nobody answered ends as its timeoutAction says, and the step goes on as with a single question.
func TestItemsThatNobodyAnswers(t *testing.T) {
	for name, tt := range map[string]struct {
		input, more string
		answer      any
		items, next string
	}{
		"one is skipped":       {"timeoutAction: skip", "", "left", "done skipped", `{"answers":["left",null],"error":null,"status":"done"}`},
		"all are skipped":      {"timeoutAction: skip", "", nil, "skipped skipped", `{"answers":[null,null],"error":null,"status":"done"}`},
		"the default is taken": {"timeoutAction: default, default: right", "", "left", "done done", `{"answers":["left","right"],"error":null,"status":"done"}`},
		"the error is left":    {"timeoutAction: fail", ", on_error: continue", "left", "done failed", `{"answers":["left",null],"error":"question_timed_out","status":"failed"}`},
		"others are asked":     {"timeoutAction: escalate, escalation: [{timeout: 10m, on_timeout: skip}]", "", "left", "done skipped", `{"answers":["left",null],"error":null,"status":"done"}`},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				run := w.run(askForEach(tt.input, tt.more), nil)
				w.passDeadlines(run.ID, tt.answer)
				if strings.Contains(tt.input, "escalate") {
					patience.Await(w, "others are asked", func() bool {
						open := w.openItemQuestions(run.ID)
						return len(open) == 0 || open[0].Deadline.After(w.Clock.Now())
					})
					w.Clock.Advance(time.Hour)
				}
				run = w.await(run.ID, fermata.TaskDone)
				if got := w.itemStates(run.ID); got != tt.items {
					w.Errorf("the items are %s", got)
				}
				if got := string(stepOf(run, "next").Input); got != tt.next {
					w.Errorf("the next step got %s", got)
				}
				for _, s := range run.Steps {
					if s.State == fermata.StepSkipped && s.Note != "nobody answered in time" {
						w.Errorf("an item that was skipped says %q", s.Note)
					}
				}
			})
		})
	}
}

// If the question of an item fails at its deadline, the step and the run say so, as with a single question.
func TestAnItemThatFailsInSilence(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(askForEach("timeoutAction: fail", ", retry: {attempts: 3, backoff: 1s}"), nil)
		w.passDeadlines(run.ID, "left")
		run = w.await(run.ID, fermata.TaskFailed)
		w.wantSteps(run, "ask/1:failed (question_timed_out: 1 of 2 items failed, the first of them item 1: nobody answered in time) ")
		if run.Reason != fermata.ReasonQuestionTimedOut {
			w.Errorf("the reason is %s", run.Reason)
		}
	})
}

// A question of an item that was withdrawn fails its step, as a single question does. A person may let the step go on
// without an answer.
func TestAnItemWithoutAnAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(w *world, q *fermata.Question) error
		want string
		next string
	}{
		"withdrawn": {
			func(w *world, q *fermata.Question) error {
				_, err := w.Engine.CancelQuestion(w.Context(), admin, q.ID, "not today")
				return err
			}, "failed", `{"answers":["left",null],"error":"question_cancelled","status":"failed"}`,
		},
		"resumed": {
			func(w *world, q *fermata.Question) error {
				_, err := w.Engine.ResumeTask(w.Context(), admin, q.TaskID, "")
				return err
			}, "done", `{"answers":["left",null],"error":null,"status":"done"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				run := w.run(askForEach("timeoutAction: fail", ", on_error: continue"), nil)
				patience.Await(w, "both items ask", func() bool { return len(w.openItemQuestions(run.ID)) == 2 })
				open := w.openItemQuestions(run.ID)
				w.OK(tt.end(w, open[1]))
				w.answer(open[0], fermata.Answer{Answer: "left"})
				run = w.await(run.ID, fermata.TaskDone)
				if got := w.itemStates(run.ID); got != "done "+tt.want {
					w.Errorf("the items are %s", got)
				}
				if got := string(stepOf(run, "next").Input); got != tt.next {
					w.Errorf("the next step got %s", got)
				}
			})
		})
	}
}

const approveEach = `
name: approving
triggers: [{manual: true}]
steps:
  - {id: ok, tool: request_approval, foreach: [a, b], parallel: 2, input: {title: "Ship {{ item }}?", action: {env: "{{ item }}"}, timeout: 1h, timeoutAction: ACTION}}
  - {id: ship, tool: publish}
`

// A run never goes on without the approvals of all items. A retry asks only for the item that nobody answered.
func TestAnItemThatNobodyApproves(t *testing.T) {
	for action, tt := range map[string]struct {
		state fermata.TaskState
		items string
		steps string
	}{
		"skip": {fermata.TaskSkipped, "done skipped", "ok/1:skipped "},
		"fail": {fermata.TaskFailed, "done failed", "ok/1:failed (question_timed_out: 1 of 2 items failed, the first of them item 1: nobody answered in time) "},
	} {
		t.Run(action, func(t *testing.T) {
			onBoth(t, func(w *world) {
				run := w.run(strings.Replace(approveEach, "ACTION", action, 1), nil)
				w.passDeadlines(run.ID, "approve")
				run = w.await(run.ID, tt.state)
				w.wantSteps(run, tt.steps)
				if got := w.itemStates(run.ID); got != tt.items || run.Reason != fermata.ReasonQuestionTimedOut {
					w.Errorf("the items are %s, and the reason is %s", got, run.Reason)
				}
				_, err := w.s.Retry(w.Context(), admin, run.ID, nil)
				w.OK(err)
				patience.Await(w, "one item asks again", func() bool { return len(w.openItemQuestions(run.ID)) == 1 })
				w.answer(w.openItemQuestions(run.ID)[0], fermata.Answer{Answer: "approve"})
				w.wantSteps(w.await(run.ID, fermata.TaskDone), "ok/1:done ship/1:done ")
			})
		})
	}
}

// A run whose approval was rejected for an item is rejected, as with a single approval.
func TestARejectedItemRejectsTheRun(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(strings.Replace(approveEach, "ACTION", "fail", 1), nil)
		patience.Await(w, "both items ask", func() bool { return len(w.openItemQuestions(run.ID)) == 2 })
		open := w.openItemQuestions(run.ID)
		w.answer(open[0], fermata.Answer{Answer: "approve"})
		w.answer(open[1], fermata.Answer{Answer: "reject"})
		run = w.await(run.ID, fermata.TaskFailed)
		if run.Reason != fermata.ReasonRejected || !strings.Contains(run.Summary, "ann rejected it") {
			w.Errorf("the run says %s: %s", run.Reason, run.Summary)
		}
	})
}

// The settings of the workflow for answers and for silence are not those of a question that is asked for each item.
func TestWorkflowSettingsAreNotForItems(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(askForEach("timeoutAction: skip", "")+`
  - {id: once, tool: post_question, suspend: true, input: {question: "Sure?", options: [x], timeout: 1h, timeoutAction: skip}}
on_resume: {inject: {injected: "{{ pendingQuestion.answer }}"}, goto: next}
on_timeout: {tool: label, goto: next}
`, nil)
		w.passDeadlines(run.ID, "left")
		w.awaitRunQuestion(run.ID)
		if got := w.tools.calledSteps(); strings.Join(got, " ") != "next" {
			w.Errorf("called %v", got)
		}
	})
}

// A question of an item that the policy refuses fails its step, as a single question does.
func TestAQuestionOfAnItemThatIsRefused(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(askForEach("timeoutAction: escalate, escalation: [{timeout: 1m, on_timeout: skip}]", ""), nil)
		run = w.await(run.ID, fermata.TaskFailed)
		if e := stepOf(run, "ask").Error; e == nil || e.Code != "question_refused" || !strings.Contains(e.Message, "below the policy's shortest timeout") {
			w.Errorf("the step says %+v", e)
		}
	})
}

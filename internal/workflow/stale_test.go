package workflow_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
)

// A run that waits for something else than tasks, or has ended, names no task that blocks it.
func TestARunForgetsTheTasksThatBlockedIt(t *testing.T) {
	onBoth(t, func(w *world) {
		blockers := func(id string) int {
			task, err := w.Engine.Task(w.Context(), admin, id)
			w.OK(err)
			return len(task.BlockedBy)
		}
		run := w.run(`
name: waits
triggers: [{manual: true}]
steps:
  - {id: build, tool: shell, input: {command: [make]}}
  - {id: ask, tool: post_question, suspend: true, input: {question: "Ship?", options: [a], timeout: never}}
  - {id: test, tool: shell, input: {command: [make, test]}}
  - {id: pause, tool: wait, input: {for: 1h}}
  - {id: last, tool: shell, input: {command: [make, clean]}}
`, nil)
		w.await(run.ID, fermata.TaskBlocked)
		if n := blockers(run.ID); n != 1 {
			w.Fatalf("%d tasks block the run", n)
		}
		w.work(fermata.Finish{Result: fermata.ResultCompleted})
		q := w.awaitRunQuestion(run.ID)
		if n := blockers(run.ID); n != 0 {
			w.Errorf("%d tasks block the run that waits for a person", n)
		}
		w.answer(q, fermata.Answer{Answer: "a"})
		w.work(fermata.Finish{Result: fermata.ResultCompleted})
		w.await(run.ID, fermata.TaskDeferred)
		if n := blockers(run.ID); n != 0 {
			w.Errorf("%d tasks block the run that waits for an instant", n)
		}
		w.Clock.Advance(2 * time.Hour)
		w.work(fermata.Finish{Result: fermata.ResultFailed, Summary: "broken"})
		w.await(run.ID, fermata.TaskFailed)
		if n := blockers(run.ID); n != 0 {
			w.Errorf("%d tasks block the run that has ended", n)
		}
	})
}

// An item that is done in a later attempt does not say why the attempt before it ended.
func TestAnItemDoneLaterHasNoOldNote(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(`
name: each
triggers: [{manual: true}]
steps:
  - {id: each, tool: request_approval, foreach: [a, b], parallel: 2, input: {title: "Ship {{ item }}?", action: {env: "{{ item }}"}, timeout: never}}
`, nil)
		patience.Await(w, "both items ask", func() bool { return len(w.openItemQuestions(run.ID)) == 2 })
		_, err := w.Engine.CancelTask(w.Context(), admin, run.ID, "not now")
		w.OK(err)
		_, err = w.s.Retry(w.Context(), admin, run.ID, nil)
		w.OK(err)
		patience.Await(w, "both items ask again", func() bool { return len(w.openItemQuestions(run.ID)) == 2 })
		for _, q := range w.openItemQuestions(run.ID) {
			w.answer(q, fermata.Answer{Answer: "approve"})
		}
		for _, s := range w.await(run.ID, fermata.TaskDone).Steps {
			if s.Note != "" {
				w.Errorf("%s says %q", s.Step, s.Note)
			}
		}
	})
}

// An approval that is asked again after a rejection has no answer yet.
func TestAnApprovalAskedAgainHasNoAnswer(t *testing.T) {
	for name, each := range map[string]string{"once": "", "for each item": "foreach: [a], "} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				run := w.run(`
name: legal
triggers: [{manual: true}]
steps:
  - {id: legal, tool: request_approval, `+each+`input: {title: "May we?", action: {tool: deploy}, timeout: never}}
  - {id: deploy, tool: publish}
`, nil)
				first := w.awaitQuestion(run.ID)
				w.answer(first, fermata.Answer{Answer: "reject", Comment: "never"})
				w.await(run.ID, fermata.TaskFailed)
				_, err := w.s.Retry(w.Context(), admin, run.ID, nil)
				w.OK(err)
				var q *fermata.Question
				patience.Await(w, "it is asked again", func() bool { q = w.awaitQuestion(run.ID); return q.ID != first.ID })
				for _, s := range w.read(run.ID).Steps {
					if len(s.Output) > 0 || s.Note != "" {
						w.Errorf("the open step has the output %s and the note %q", s.Output, s.Note)
					}
				}
				w.answer(q, fermata.Answer{Answer: "approve"})
				w.await(run.ID, fermata.TaskDone)
			})
		})
	}
}

package engine_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
)

func TestHandedOverOnce(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.suspended(format)
		w.say(task.ID, "be quick")
		c := w.claimed(task.ID)
		w.equal([]string{"be quick"}, handed(c.Context))
		w.equal(q.ID, c.Context.Pending.ID)
		w.answer(q.ID, "toml")
		w.equal([]string{"answered: Which format?"}, handed(w.heartbeat(c).Context))
		w.equal([]string{}, handed(w.heartbeat(c).Context))
		other := format
		other.Question = "Which name?"
		q = w.question(w.finish(c, asks(other)).PendingQuestionID, fermata.Pending)
		w.answer(q.ID, "toml")
		w.equal([]string{"answered: Which name?"}, handed(w.claimed(task.ID).Context))
	})
}

// TestHandedOverAgain: everything that a run without a result was handed, at
// its start or later, is handed to the next run again.
func TestHandedOverAgain(t *testing.T) {
	for name, end := range map[string]func(w *world, c *fermata.Claim){
		"lost": func(w *world, _ *fermata.Claim) { w.sweep(fermata.DefaultLease) },
		"released": func(w *world, c *fermata.Claim) {
			_, err := w.e.Release(w.Context(), w.agent, c.Run.ID, c.Run.Token)
			w.ok(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				c := w.running(fermata.NewTask{})
				w.say(c.Task.ID, "one")
				w.equal([]string{"one"}, handed(w.heartbeat(c).Context))
				end(w, c)
				w.state(c.Task.ID, fermata.TaskInputReceived)
				c = w.claimed(c.Task.ID)
				w.equal([]string{"one"}, handed(c.Context))
				w.say(c.Task.ID, "two")
				end(w, c)
				w.equal(2, len(handed(w.claimed(c.Task.ID).Context)))
			})
		})
	}
}

func TestContextShowsWhatTheRunWasHanded(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.suspended(format)
		w.answer(q.ID, "toml")
		want := []string{"answered: Which format?"}
		rc, err := w.e.Context(w.Context(), w.alice, task.ID)
		w.ok(err)
		w.equal(want, handed(rc))
		c := w.claimed(task.ID)
		rc, err = w.e.Context(w.Context(), w.alice, task.ID)
		w.ok(err)
		w.equal(want, handed(rc))
		w.complete(c)
		rc, err = w.e.Context(w.Context(), w.alice, task.ID)
		w.ok(err)
		w.equal([]string{}, handed(rc))
	})
}

// TestAnswerDuringTheRun: if a run ends to wait for an answer that has come in
// the meantime, the task is ready at once.
func TestAnswerDuringTheRun(t *testing.T) {
	each(t, func(w *world) {
		c := w.running(fermata.NewTask{})
		q := w.ask(c.Task.ID, format)
		w.equal(c.Run.ID, q.RunID)
		w.state(c.Task.ID, fermata.TaskInProgress)
		w.answer(q.ID, "toml")
		w.state(c.Task.ID, fermata.TaskInProgress)
		w.finish(c, needsInput)
		w.state(c.Task.ID, fermata.TaskInputReceived)
		w.equal([]string{"answered: Which format?"}, handed(w.claimed(c.Task.ID).Context))
	})
}

func TestPendingQuestionOfTheRunSuspends(t *testing.T) {
	each(t, func(w *world) {
		c := w.running(fermata.NewTask{})
		q := w.ask(c.Task.ID, fermata.Ask{Question: "Deploy?", Type: fermata.Approval})
		got := w.finish(c, needsInput)
		w.equal([]string{string(fermata.TaskAwaitingApproval), q.ID}, []string{string(got.State), got.PendingQuestionID})
		r, err := w.e.Run(w.Context(), w.agent, c.Run.ID)
		w.ok(err)
		w.equal(q.ID, r.QuestionID)
	})
}

func TestNeedsInputNeedsAQuestion(t *testing.T) {
	each(t, func(w *world) {
		c := w.running(fermata.NewTask{})
		_, err := w.tryFinish(c, needsInput)
		w.refused(err, fermata.CodeInvalidRequest)
		_, err = w.tryFinish(c, asks(fermata.Ask{Type: fermata.NonBlocking, Question: "a?", Default: "b"}))
		w.refused(err, fermata.CodeInvalidRequest)
		w.state(c.Task.ID, fermata.TaskInProgress)
	})
}

func TestMessageDuringTheRunDelaysSuspension(t *testing.T) {
	each(t, func(w *world) {
		c := w.running(fermata.NewTask{})
		w.say(c.Task.ID, "use toml")
		got := w.finish(c, asks(format))
		w.equal(fermata.TaskInputReceived, got.State)
		next := w.claimed(c.Task.ID)
		w.equal([]string{"use toml"}, handed(next.Context))
		w.equal(got.PendingQuestionID, next.Context.Pending.ID)
		w.finish(next, needsInput)
		w.state(c.Task.ID, fermata.TaskAwaitingInput)
	})
}

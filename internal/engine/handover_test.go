package engine_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
)

func TestHandedOverOnce(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		w.say(task.ID, "be quick")
		c := w.claimTask(task.ID)
		w.Equal([]string{"be quick"}, handedTexts(c.Context))
		w.Equal(q.ID, c.Context.Pending.ID)
		w.answer(q.ID, "toml")
		w.Equal([]string{"answered: Which format?"}, handedTexts(w.heartbeat(c).Context))
		w.Equal([]string{}, handedTexts(w.heartbeat(c).Context))
		other := format
		other.Question = "Which name?"
		q = w.checkQuestion(w.finish(c, needsInputWith(other)).PendingQuestionID, fermata.Pending)
		w.answer(q.ID, "toml")
		w.Equal([]string{"answered: Which name?"}, handedTexts(w.claimTask(task.ID).Context))
	})
}

// TestHandedOverAgain: everything that a run without a result was handed, at
// its start or later, is handed to the next run again.
func TestHandedOverAgain(t *testing.T) {
	for name, end := range map[string]func(w *world, c *fermata.Claim){
		"lost": func(w *world, _ *fermata.Claim) { w.sweep(fermata.DefaultLease) },
		"released": func(w *world, c *fermata.Claim) {
			_, err := w.Engine.Release(w.Context(), w.agent, c.Run.ID, c.Run.Token)
			w.OK(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				c := w.createRunning(fermata.NewTask{})
				w.say(c.Task.ID, "one")
				w.Equal([]string{"one"}, handedTexts(w.heartbeat(c).Context))
				end(w, c)
				w.checkState(c.Task.ID, fermata.TaskInputReceived)
				c = w.claimTask(c.Task.ID)
				w.Equal([]string{"one"}, handedTexts(c.Context))
				w.say(c.Task.ID, "two")
				end(w, c)
				w.Equal(2, len(handedTexts(w.claimTask(c.Task.ID).Context)))
			})
		})
	}
}

func TestContextShowsWhatTheRunWasHanded(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		w.answer(q.ID, "toml")
		want := []string{"answered: Which format?"}
		rc, err := w.Engine.ResumeContext(w.Context(), w.alice, task.ID)
		w.OK(err)
		w.Equal(want, handedTexts(rc))
		c := w.claimTask(task.ID)
		rc, err = w.Engine.ResumeContext(w.Context(), w.alice, task.ID)
		w.OK(err)
		w.Equal(want, handedTexts(rc))
		w.complete(c)
		rc, err = w.Engine.ResumeContext(w.Context(), w.alice, task.ID)
		w.OK(err)
		w.Equal([]string{}, handedTexts(rc))
	})
}

// TestAnswerDuringTheRun: if a run ends to wait for an answer that has come in
// the meantime, the task is ready at once.
func TestAnswerDuringTheRun(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{})
		q := w.ask(c.Task.ID, format)
		w.Equal(c.Run.ID, q.RunID)
		w.checkState(c.Task.ID, fermata.TaskInProgress)
		w.answer(q.ID, "toml")
		w.checkState(c.Task.ID, fermata.TaskInProgress)
		w.finish(c, needsInput)
		w.checkState(c.Task.ID, fermata.TaskInputReceived)
		w.Equal([]string{"answered: Which format?"}, handedTexts(w.claimTask(c.Task.ID).Context))
	})
}

func TestPendingQuestionOfTheRunSuspends(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{})
		q := w.ask(c.Task.ID, fermata.Ask{Question: "Deploy?", Type: fermata.Approval})
		got := w.finish(c, needsInput)
		w.Equal([]string{string(fermata.TaskAwaitingApproval), q.ID}, []string{string(got.State), got.PendingQuestionID})
		r, err := w.Engine.Run(w.Context(), w.agent, c.Run.ID)
		w.OK(err)
		w.Equal(q.ID, r.QuestionID)
	})
}

func TestNeedsInputNeedsAQuestion(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{})
		_, err := w.tryFinish(c, needsInput)
		w.CheckRefused(err, fermata.CodeInvalidRequest)
		_, err = w.tryFinish(c, needsInputWith(fermata.Ask{Type: fermata.NonBlocking, Question: "a?", Default: "b"}))
		w.CheckRefused(err, fermata.CodeInvalidRequest)
		w.checkState(c.Task.ID, fermata.TaskInProgress)
	})
}

func TestMessageDuringTheRunDelaysSuspension(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{})
		w.say(c.Task.ID, "use toml")
		got := w.finish(c, needsInputWith(format))
		w.Equal(fermata.TaskInputReceived, got.State)
		next := w.claimTask(c.Task.ID)
		w.Equal([]string{"use toml"}, handedTexts(next.Context))
		w.Equal(got.PendingQuestionID, next.Context.Pending.ID)
		w.finish(next, needsInput)
		w.checkState(c.Task.ID, fermata.TaskAwaitingInput)
	})
}

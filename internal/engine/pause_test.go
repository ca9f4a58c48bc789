package engine_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

func (w *world) pause(id string) *fermata.Task {
	w.Helper()
	t, err := w.Engine.PauseTask(w.Context(), w.alice, id)
	w.OK(err)
	return t
}

func (w *world) resume(id, words string) *fermata.Task {
	w.Helper()
	t, err := w.Engine.ResumeTask(w.Context(), w.alice, id, words)
	w.OK(err)
	return t
}

func TestAPausedTaskWaitsForItsPerson(t *testing.T) {
	each(t, func(w *world) {
		w.rule(fermata.NewGateRule{Tool: "Bash", Decision: fermata.GateAllow})
		c := w.createRunning(fermata.NewTask{Title: "paint"})
		place := fermata.Session{ID: "s-1", Runner: "claude", Dir: "/work/my copy", Worker: "w1", Command: "claude --resume s-1"}
		_, err := w.Engine.Heartbeat(w.Context(), w.agent, c.Run.ID, fermata.Heartbeat{Token: c.Run.Token, Session: &place})
		w.OK(err)
		p := w.pause(c.Task.ID)
		w.Equal([]any{fermata.TaskDeferred, fermata.ReasonPaused}, []any{p.State, p.Reason})
		w.Equal("cd '/work/my copy' && claude --resume s-1", p.TakeOverCommand)
		w.checkDenied(callOf(c, "make"), "paused")
		_, err = w.tryFinish(c, fermata.Finish{Result: fermata.ResultCompleted})
		w.CheckRefused(err, fermata.CodeStaleRun)
		// Neither words, nor time, nor another verb resumes the task.
		w.say(c.Task.ID, "are you there?")
		w.sweep(30 * 24 * time.Hour)
		w.checkNoTask()
		_, err = w.Engine.ReopenTask(w.Context(), w.alice, c.Task.ID)
		w.CheckRefused(err, fermata.CodeIllegalTransition)
		_, err = w.Engine.DeferTask(w.Context(), w.alice, c.Task.ID, nil)
		w.CheckRefused(err, fermata.CodeIllegalTransition)
		// An agent may not end a task that a person has taken over, nor a task above it.
		_, err = w.Engine.CancelTask(w.Context(), w.agent, c.Task.ID, "I do not like to wait")
		w.CheckRefused(err, fermata.CodeIllegalTransition)
		w.Equal(fermata.ReasonPaused, w.pause(c.Task.ID).Reason)
		r := w.resume(c.Task.ID, "I painted the gate.")
		w.Equal([]any{fermata.TaskInputReceived, "", ""}, []any{r.State, r.Reason, r.TakeOverCommand})
		next := w.claimTask(c.Task.ID)
		w.Equal(0, next.Task.Attempts)
		w.Equal([]string{"are you there?", "I painted the gate."}, []string{next.Context.Messages[0].Body, next.Context.Messages[1].Body})
		w.Equal("s-1", next.Context.Session.ID)
	})
}

// Everything that a run was handed just before the pause is handed to the next run.
func TestAPauseLosesNoWords(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{Title: "paint"})
		w.say(c.Task.ID, "use less paint")
		w.heartbeat(c)
		w.pause(c.Task.ID)
		thread, _, err := w.Engine.Messages(w.Context(), w.alice, c.Task.ID, "", 10)
		w.OK(err)
		w.Equal(fermata.HandoffPaused, thread[0].Handoff)
		w.resume(c.Task.ID, "")
		w.Equal("use less paint", w.claimTask(c.Task.ID).Context.Messages[0].Body)
	})
}

func TestAPausedQuestionIsStillAsked(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		w.pause(task.ID)
		w.Equal(fermata.TaskAwaitingInput, w.resume(task.ID, "").State)
		w.pause(task.ID)
		w.answer(q.ID, "toml")
		w.checkNoTask()
		w.Equal(fermata.TaskInputReceived, w.resume(task.ID, "").State)
		w.Equal(1, len(w.claimTask(task.ID).Context.Questions))
	})
}

func TestWhatCannotBePaused(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{Title: "paint"})
		w.complete(c)
		for _, id := range []string{c.Task.ID, w.task(fermata.NewTask{Runner: fermata.RunnerExternal}).ID} {
			_, err := w.Engine.PauseTask(w.Context(), w.alice, id)
			w.CheckRefused(err, fermata.CodeIllegalTransition)
		}
		open := w.task(fermata.NewTask{Title: "later"})
		w.pause(open.ID)
		w.checkNoTask()
		w.resume(open.ID, "")
		w.claimTask(open.ID)
	})
}

// An agent that is being stopped may not ask, because its question would delay the next run.
func TestARunThatIsOverAsksNothing(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{})
		late := format
		late.RunID = c.Run.ID
		w.pause(c.Task.ID)
		ask := func(a fermata.Ask) error {
			_, err := w.Engine.Ask(w.Context(), w.agent, c.Task.ID, a)
			return err
		}
		w.CheckRefused(ask(late), fermata.CodeStaleRun)
		w.say(c.Task.ID, "use less paint")
		w.resume(c.Task.ID, "")
		w.CheckRefused(ask(late), fermata.CodeStaleRun)
		next := w.claimTask(c.Task.ID)
		w.CheckRefused(ask(late), fermata.CodeStaleRun)
		w.checkState(c.Task.ID, fermata.TaskInProgress)
		// The next run makes the delayed call again, and finds its question.
		now := late
		now.RunID, now.IdempotencyKey = next.Run.ID, "call-1"
		w.OK(ask(now))
		w.finish(next, fermata.Finish{Result: fermata.ResultNeedsInput})
		w.say(c.Task.ID, "which fence?")
		now.RunID = w.claimTask(c.Task.ID).Run.ID
		w.OK(ask(now))
		now.RunID = "run_00000000000000000000"
		w.CheckRefused(ask(now), fermata.CodeStaleRun)
		_, err := w.Engine.AskExternal(w.Context(), w.agent, "", "", late)
		w.CheckRefused(err, fermata.CodeInvalidRequest)
	})
}

// A deferred task that is then paused shows who paused it.
func TestPausingWhatWasPutOffIsTold(t *testing.T) {
	each(t, func(w *world) {
		task := w.task(fermata.NewTask{Title: "later"})
		_, err := w.Engine.DeferTask(w.Context(), w.alice, task.ID, nil)
		w.OK(err)
		before := len(w.types(task.ID))
		w.pause(task.ID)
		w.Equal([]fermata.EventType{fermata.EventTaskStateChanged}, w.types(task.ID)[before:])
	})
}

package engine_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

func TestExternalTask(t *testing.T) {
	each(t, func(w *world) {
		task := w.task(fermata.NewTask{Runner: fermata.RunnerExternal})
		w.checkState(task.ID, fermata.TaskInProgress)
		q := w.ask(task.ID, format)
		w.checkState(task.ID, fermata.TaskAwaitingInput)
		_, err := w.Engine.Clarify(w.Context(), w.alice, q.ID, "why?")
		w.OK(err)
		w.checkState(task.ID, fermata.TaskAwaitingInput)
		w.answer(q.ID, "toml")
		w.checkState(task.ID, fermata.TaskInProgress)
		w.checkNoTask()
		_, err = w.Engine.FinishExternal(w.Context(), w.agent, task.ID, needsInput)
		w.CheckRefused(err, fermata.CodeInvalidRequest)
		got, err := w.Engine.FinishExternal(w.Context(), w.agent, task.ID, fermata.Finish{Result: fermata.ResultCompleted, Summary: "ok"})
		w.OK(err)
		w.Equal([]any{fermata.TaskDone, "ok"}, []any{got.State, got.Summary})
		_, err = w.Engine.FinishExternal(w.Context(), w.agent, task.ID, fermata.Finish{Result: fermata.ResultFailed})
		w.CheckRefused(err, fermata.CodeIllegalTransition)
		_, err = w.Engine.FinishExternal(w.Context(), w.agent, w.task(fermata.NewTask{}).ID, completed)
		w.CheckRefused(err, fermata.CodeIllegalTransition)
		got, err = w.Engine.ReopenTask(w.Context(), w.alice, task.ID)
		w.OK(err)
		w.Equal(fermata.TaskInProgress, got.State)
	})
}

func TestSuspendedExternalTaskEnds(t *testing.T) {
	for result, want := range map[fermata.Result]fermata.TaskState{fermata.ResultCompleted: fermata.TaskDone, fermata.ResultFailed: fermata.TaskFailed} {
		t.Run(string(result), func(t *testing.T) {
			each(t, func(w *world) {
				task := w.task(fermata.NewTask{Runner: fermata.RunnerExternal})
				q := w.ask(task.ID, format)
				got, err := w.Engine.FinishExternal(w.Context(), w.agent, task.ID, fermata.Finish{Result: result})
				w.OK(err)
				w.Equal(want, got.State)
				w.checkQuestion(q.ID, fermata.Cancelled)
			})
		})
	}
}

func TestExternalTaskIsNeitherBlockedNorDeferred(t *testing.T) {
	each(t, func(w *world) {
		first := w.createRunning(fermata.NewTask{})
		task := w.task(fermata.NewTask{Runner: fermata.RunnerExternal})
		_, err := w.Engine.DeferTask(w.Context(), w.alice, task.ID, nil)
		w.CheckRefused(err, fermata.CodeIllegalTransition)
		_, err = w.Engine.UpdateTask(w.Context(), w.alice, task.ID, fermata.TaskPatch{BlockedBy: &[]string{first.Task.ID}})
		w.OK(err)
		w.cancel(task.ID)
		got, err := w.Engine.ReopenTask(w.Context(), w.alice, task.ID)
		w.OK(err)
		w.Equal(fermata.TaskInProgress, got.State)
	})
}

// finishExternal ends the task of a session as done.
func (w *world) finishExternal(id string) {
	w.Helper()
	_, err := w.Engine.FinishExternal(w.Context(), w.agent, id, completed)
	w.OK(err)
}

func (w *world) askExternal(session string, a fermata.Ask) *fermata.Question {
	w.Helper()
	q, err := w.Engine.AskExternal(w.Context(), w.agent, "web", session, a)
	w.OK(err)
	return q
}

func TestAskOutside(t *testing.T) {
	each(t, func(w *world) {
		q := w.askExternal("", format)
		got := w.checkState(q.TaskID, fermata.TaskAwaitingInput)
		w.Equal([]any{"web", fermata.RunnerExternal, true, q.Title}, []any{got.Project, got.Runner, got.EndsWithAnswer, got.Title})
		if other := w.askExternal("", format); other.TaskID == q.TaskID {
			w.Error("two questions without a session share a task")
		}
		w.answer(q.ID, "toml")
		w.checkState(q.TaskID, fermata.TaskDone)
		q = w.askExternal("", format)
		_, err := w.Engine.CancelQuestion(w.Context(), w.agent, q.ID, "")
		w.OK(err)
		w.checkState(q.TaskID, fermata.TaskCancelled)
		_, err = w.Engine.AskExternal(w.Context(), w.agent, "", "", fermata.Ask{})
		w.CheckRefused(err, fermata.CodeInvalidRequest)
	})
}

func TestAskOutsideUnderThePolicyOfTheWorkspace(t *testing.T) {
	each(t, func(w *world) {
		ask := func(timeout fermata.Timeout) (*fermata.Question, error) {
			return w.Engine.AskExternal(w.Context(), w.agent, "", "", fermata.Ask{Question: "Deploy 512?", Timeout: timeout})
		}
		w.setPolicy(func(p *fermata.Policy) { p.MinTimeout = "1s" })
		q, err := ask("10s")
		w.OK(err)
		task, err := w.Engine.Task(w.Context(), w.agent, q.TaskID)
		w.OK(err)
		w.Equal("Deploy 512?", task.Title)

		w.setPolicy(func(p *fermata.Policy) { p.MinTimeout, p.AllowNever = "2h", false })
		for _, timeout := range []fermata.Timeout{"1h", fermata.Never} {
			_, err = ask(timeout)
			w.CheckRefused(err, fermata.CodePolicyViolation)
		}
		// A field that the asker leaves out is no reason to refuse the
		// question.
		q, err = ask("")
		w.OK(err)
		w.Equal(fermata.Timeout("2h"), q.Timeout)
	})
}

func TestAskOutsideOnceASession(t *testing.T) {
	each(t, func(w *world) {
		first := w.askExternal("s1", format)
		_, err := w.Engine.AskExternal(w.Context(), w.agent, "web", "s1", fermata.Ask{Question: "And?"})
		w.CheckRefused(err, fermata.CodePendingQuestionExists)
		if other := w.askExternal("s2", format); other.TaskID == first.TaskID {
			w.Error("two sessions share a task")
		}
		w.answer(first.ID, "toml")
		w.checkState(first.TaskID, fermata.TaskInProgress)
		second := w.askExternal("s1", fermata.Ask{Question: "And?"})
		w.Equal(first.TaskID, second.TaskID)
		w.answer(second.ID, "yes")
		w.finishExternal(first.TaskID)
		if third := w.askExternal("s1", format); third.TaskID == first.TaskID {
			w.Error("an ended task was asked on")
		}
	})
}

func TestASessionHasOneTask(t *testing.T) {
	each(t, func(w *world) {
		n := fermata.NewTask{Title: "session", Runner: fermata.RunnerExternal, SessionKey: "s1"}
		task := w.task(n)
		w.Equal(task.ID, w.task(n).ID)
		asked := w.askExternal("s1", format)
		w.Equal(task.ID, asked.TaskID)
		w.answer(asked.ID, "toml")
		w.finishExternal(task.ID)
		if next := w.task(n); next.ID == task.ID {
			w.Error("an ended task was joined")
		}
	})
}

func TestAskOutsideWithAKey(t *testing.T) {
	each(t, func(w *world) {
		a := format
		a.IdempotencyKey = "k"
		first := w.askExternal("", a)
		w.Equal(first.ID, w.askExternal("", a).ID)
		w.answer(first.ID, "toml")
		w.Equal(fermata.Answered, w.askExternal("", a).Status)
		// The same question in another project or session is another question.
		for project, session := range map[string]string{"shop": "", "web": "s1"} {
			_, err := w.Engine.AskExternal(w.Context(), w.agent, project, session, a)
			w.CheckRefused(err, fermata.CodeIdempotencyConflict)
		}
		a.Question = "And?"
		_, err := w.Engine.AskExternal(w.Context(), w.agent, "web", "", a)
		w.CheckRefused(err, fermata.CodeIdempotencyConflict)
	})
}

// TestSessionTimesOut: if the deadline has ended the task of a session, the
// session continues in another task, even if no sweep ran.
func TestSessionTimesOut(t *testing.T) {
	each(t, func(w *world) {
		a := format
		a.Timeout = "10m"
		first := w.askExternal("s1", a)
		w.Clock.Advance(10 * time.Minute)
		second := w.askExternal("s1", a)
		if second.TaskID == first.TaskID {
			w.Error("a task that time had ended was asked on")
		}
		w.checkQuestion(first.ID, fermata.TimedOut)
		w.checkState(first.TaskID, fermata.TaskFailed)
	})
}

// TestSessionOfAnotherProject: a question of a session belongs to the project
// of the session's task, whatever project it names.
func TestSessionOfAnotherProject(t *testing.T) {
	each(t, func(w *world) {
		first := w.askExternal("s1", format)
		cid := w.alice
		cid.Role, cid.Projects = fermata.RoleViewer, map[string]fermata.Role{"api": fermata.RoleResponder}
		cid.Scopes = []fermata.Scope{fermata.ScopeAsk, fermata.ScopeAnswer}
		and := fermata.Ask{Question: "And?", Type: fermata.NonBlocking, Default: "x"}
		// A session of an agent is not a person's session.
		own, err := w.Engine.AskExternal(w.Context(), cid, "api", "s1", and)
		w.OK(err)
		if own.TaskID == first.TaskID || own.Project != "api" {
			w.Errorf("cid asks in the task %s of the project %s", own.TaskID, own.Project)
		}
		cid.Projects = map[string]fermata.Role{"web": fermata.RoleResponder}
		_, err = w.Engine.AskExternal(w.Context(), cid, "web", "s1", and)
		w.CheckRefused(err, fermata.CodeForbidden)
		_, err = w.Engine.CreateTask(w.Context(), cid, fermata.NewTask{Title: "t", Project: "web", Runner: fermata.RunnerExternal, SessionKey: "s1"})
		w.CheckRefused(err, fermata.CodeForbidden)
		cid.Projects = map[string]fermata.Role{"api": fermata.RoleResponder}
		_, err = w.Engine.AskExternal(w.Context(), cid, "api", "s2", format)
		w.OK(err)
	})
}

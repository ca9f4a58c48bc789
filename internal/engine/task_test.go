package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

func TestCancelNeverResumes(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		w.cancel(task.ID)
		got := w.checkQuestion(q.ID, fermata.Cancelled)
		w.Equal(fermata.ActorHuman, got.Resolution.DecidedBy)
		_, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: "toml", Restart: true})
		w.CheckRefused(err, fermata.CodeQuestionClosed)
		w.sweep(time.Hour)
		w.Equal([]any{"", "not needed"}, []any{w.checkState(task.ID, fermata.TaskCancelled).PendingQuestionID, w.checkState(task.ID, fermata.TaskCancelled).Reason})
		w.checkNoTask()
		w.cancel(task.ID)
		w.Equal(1, w.closings(q.ID))
	})
}

// TestCancelTakesTheSubtree: tasks in every state are cancelled, even below a
// task that has ended.
func TestCancelTakesTheSubtree(t *testing.T) {
	each(t, func(w *world) {
		root := w.createRunning(fermata.NewTask{})
		child := func(parent string, n fermata.NewTask) string { n.ParentID = parent; return w.task(n).ID }
		done := w.createRunning(fermata.NewTask{ParentID: root.Task.ID})
		below := w.createRunning(fermata.NewTask{ParentID: done.Task.ID})
		w.complete(done)
		suspended := w.createRunning(fermata.NewTask{ParentID: root.Task.ID})
		q := w.finish(suspended, needsInputWith(format)).PendingQuestionID
		open := child(suspended.Task.ID, fermata.NewTask{})
		blocked := child(root.Task.ID, fermata.NewTask{BlockedBy: []string{open}})
		deferred := child(root.Task.ID, fermata.NewTask{DeferUntil: ptr(time.Now().Add(time.Hour))})
		waiting := w.finish(root, fermata.Finish{Result: fermata.ResultBlocked})
		w.Equal(fermata.TaskBlocked, waiting.State)
		w.cancel(root.Task.ID)
		for _, id := range []string{root.Task.ID, below.Task.ID, suspended.Task.ID, open, blocked, deferred} {
			w.checkState(id, fermata.TaskCancelled)
		}
		w.checkState(done.Task.ID, fermata.TaskDone)
		w.checkQuestion(q, fermata.Cancelled)
		w.Equal(fermata.RunFinished, w.runState(below.Run.ID))
		_, err := w.tryFinish(below, completed)
		w.CheckRefused(err, fermata.CodeStaleRun)
		w.checkNoTask()
	})
}

func TestEndedTasksStay(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{})
		w.complete(c)
		_, err := w.Engine.CancelTask(w.Context(), w.alice, c.Task.ID, "")
		w.CheckRefused(err, fermata.CodeIllegalTransition)
		_, err = w.Engine.DeferTask(w.Context(), w.alice, c.Task.ID, nil)
		w.CheckRefused(err, fermata.CodeIllegalTransition)
		_, err = w.Engine.ResumeTask(w.Context(), w.alice, c.Task.ID, "")
		w.CheckRefused(err, fermata.CodeIllegalTransition)
		if !strings.Contains(err.Error(), "done") || !strings.Contains(err.Error(), "input_received") {
			w.Errorf("the error does not name both states: %v", err)
		}
	})
}

func TestEndCancelsQuestions(t *testing.T) {
	for result, state := range map[fermata.Result]fermata.TaskState{fermata.ResultCompleted: fermata.TaskDone, fermata.ResultFailed: fermata.TaskFailed} {
		t.Run(string(result), func(t *testing.T) {
			each(t, func(w *world) {
				c := w.createRunning(fermata.NewTask{})
				q := w.ask(c.Task.ID, format)
				other := w.ask(c.Task.ID, fermata.Ask{Type: fermata.NonBlocking, Question: "a?", Default: "b"})
				w.Equal(state, w.finish(c, fermata.Finish{Result: result, Summary: "that was it"}).State)
				w.checkQuestion(q.ID, fermata.Cancelled)
				w.checkQuestion(other.ID, fermata.Cancelled)
				w.Equal("that was it", w.checkState(c.Task.ID, state).Summary)
			})
		})
	}
}

func TestDependencies(t *testing.T) {
	each(t, func(w *world) {
		a, b := w.createRunning(fermata.NewTask{}), w.createRunning(fermata.NewTask{})
		both := w.task(fermata.NewTask{BlockedBy: []string{a.Task.ID, b.Task.ID, a.Task.ID}})
		w.Clock.Advance(time.Second)
		one := w.task(fermata.NewTask{BlockedBy: []string{a.Task.ID}})
		w.Equal(2, len(w.checkState(both.ID, fermata.TaskBlocked).BlockedBy))
		w.complete(a)
		w.checkState(both.ID, fermata.TaskBlocked)
		w.checkState(one.ID, fermata.TaskOpen)
		w.complete(b)
		w.checkState(both.ID, fermata.TaskOpen)
		w.checkState(w.task(fermata.NewTask{BlockedBy: []string{a.Task.ID}}).ID, fermata.TaskOpen)
	})
}

func TestFailedDependencyBlocks(t *testing.T) {
	each(t, func(w *world) {
		first := w.createRunning(fermata.NewTask{})
		second := w.task(fermata.NewTask{BlockedBy: []string{first.Task.ID}})
		w.finish(first, fermata.Finish{Result: fermata.ResultFailed})
		w.checkState(second.ID, fermata.TaskBlocked)
		w.checkState(w.task(fermata.NewTask{BlockedBy: []string{first.Task.ID}}).ID, fermata.TaskBlocked)
		_, err := w.Engine.ReopenTask(w.Context(), w.alice, first.Task.ID)
		w.OK(err)
		w.complete(w.claimTask(first.Task.ID))
		w.checkState(second.ID, fermata.TaskOpen)
	})
}

func TestCyclesAreRefused(t *testing.T) {
	each(t, func(w *world) {
		a := w.task(fermata.NewTask{}).ID
		b := w.task(fermata.NewTask{BlockedBy: []string{a}}).ID
		c := w.task(fermata.NewTask{BlockedBy: []string{b}}).ID
		patch := func(id string, on ...string) error {
			_, err := w.Engine.UpdateTask(w.Context(), w.alice, id, fermata.TaskPatch{BlockedBy: &on})
			return err
		}
		err := patch(a, c)
		w.CheckRefused(err, fermata.CodeInvalidRequest)
		if path := strings.Join([]string{a, c, b, a}, " → "); !strings.Contains(err.Error(), path) {
			w.Errorf("the error does not show the path %s: %v", path, err)
		}
		w.CheckRefused(patch(a, a), fermata.CodeInvalidRequest)
		w.CheckRefused(patch(a, "task_00000000000000000000"), fermata.CodeNotFound)
		w.Equal(0, len(w.checkState(a, fermata.TaskOpen).BlockedBy))
		claim := w.claimTask(a)
		_, err = w.tryFinish(claim, fermata.Finish{Result: fermata.ResultBlocked, BlockedBy: []string{c}})
		w.CheckRefused(err, fermata.CodeInvalidRequest)
		_, err = w.Engine.CreateTask(w.Context(), w.agent, fermata.NewTask{Title: "x", BlockedBy: []string{"task_00000000000000000000"}})
		w.CheckRefused(err, fermata.CodeNotFound)
	})
}

func TestPatchMovesTheTask(t *testing.T) {
	each(t, func(w *world) {
		first := w.createRunning(fermata.NewTask{})
		task := w.task(fermata.NewTask{})
		patch := func(p fermata.TaskPatch) *fermata.Task {
			got, err := w.Engine.UpdateTask(w.Context(), w.alice, task.ID, p)
			w.OK(err)
			return got
		}
		short := first.Task.ID[len(first.Task.ID)-10:]
		w.Equal(fermata.TaskBlocked, patch(fermata.TaskPatch{BlockedBy: &[]string{short}}).State)
		got := patch(fermata.TaskPatch{Title: ptr("new"), Body: ptr("b"), Priority: ptr(0), Labels: &[]string{"x"}})
		w.Equal([]any{fermata.TaskBlocked, "new", "b", 0, []string{"x"}, []string{first.Task.ID}}, []any{got.State, got.Title, got.Body, got.Priority, got.Labels, got.BlockedBy})
		w.Equal(fermata.TaskOpen, patch(fermata.TaskPatch{BlockedBy: &[]string{}}).State)
		_, err := w.Engine.UpdateTask(w.Context(), w.alice, task.ID, fermata.TaskPatch{Priority: ptr(9)})
		w.CheckRefused(err, fermata.CodeInvalidRequest)
	})
}

func TestParentWaitsForItsChildren(t *testing.T) {
	for name, end := range map[string]func(w *world, c *fermata.Claim){
		"done":      func(w *world, c *fermata.Claim) { w.complete(c) },
		"failed":    func(w *world, c *fermata.Claim) { w.finish(c, fermata.Finish{Result: fermata.ResultFailed}) },
		"cancelled": func(w *world, c *fermata.Claim) { w.cancel(c.Task.ID) },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				parent := w.createRunning(fermata.NewTask{})
				first := w.createRunning(fermata.NewTask{ParentID: parent.Task.ID})
				second := w.createRunning(fermata.NewTask{ParentID: parent.Task.ID})
				w.Equal(fermata.TaskBlocked, w.finish(parent, fermata.Finish{Result: fermata.ResultBlocked}).State)
				end(w, first)
				w.checkState(parent.Task.ID, fermata.TaskBlocked)
				end(w, second)
				w.checkState(parent.Task.ID, fermata.TaskOpen)
				w.claimTask(parent.Task.ID)
			})
		})
	}
}

func TestBlockedOnNothingAsksAPerson(t *testing.T) {
	for name, policy := range map[string]func(p *fermata.Policy){
		"default":  func(*fermata.Policy) {},
		"no never": func(p *fermata.Policy) { p.AllowNever, p.AllowLonger = false, false },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				w.setPolicy(policy)
				got := w.finish(w.createRunning(fermata.NewTask{}), fermata.Finish{Result: fermata.ResultBlocked, Summary: "no access"})
				w.Equal(fermata.TaskAwaitingInput, got.State)
				q := w.checkQuestion(got.PendingQuestionID, fermata.Pending)
				w.Equal("no access", q.Body)
				w.answer(q.ID, "ask bob")
				w.claimTask(got.ID)
			})
		})
	}
}

func TestBlockedOnWhatIsDone(t *testing.T) {
	each(t, func(w *world) {
		other := w.createRunning(fermata.NewTask{})
		w.complete(other)
		c := w.createRunning(fermata.NewTask{})
		w.Equal(fermata.TaskOpen, w.finish(c, fermata.Finish{Result: fermata.ResultBlocked, BlockedBy: []string{other.Task.ID}}).State)
	})
}

func TestParents(t *testing.T) {
	each(t, func(w *world) {
		parent := w.task(fermata.NewTask{})
		short := parent.ID[len(parent.ID)-10:]
		child := w.task(fermata.NewTask{ParentID: short})
		sibling := w.task(fermata.NewTask{ParentID: parent.ID})
		nephew := w.task(fermata.NewTask{ParentID: sibling.ID})
		grandchild := w.task(fermata.NewTask{ParentID: child.ID})
		tree, err := w.Engine.Tree(w.Context(), w.alice, parent.ID)
		w.OK(err)
		var ids []string
		for _, t := range tree {
			ids = append(ids, t.ID)
		}
		w.Equal([]string{parent.ID, child.ID, sibling.ID, grandchild.ID, nephew.ID}, ids)
		for range fermata.MaxDepth - 3 {
			grandchild = w.task(fermata.NewTask{ParentID: grandchild.ID})
		}
		grandchild = w.task(fermata.NewTask{ParentID: grandchild.ID})
		_, err = w.Engine.CreateTask(w.Context(), w.agent, fermata.NewTask{Title: "x", ParentID: grandchild.ID})
		w.CheckRefused(err, fermata.CodeInvalidRequest)
		w.cancel(parent.ID)
		_, err = w.Engine.CreateTask(w.Context(), w.agent, fermata.NewTask{Title: "x", ParentID: parent.ID})
		w.CheckRefused(err, fermata.CodeIllegalTransition)
	})
}

func TestDefer(t *testing.T) {
	each(t, func(w *world) {
		task := w.task(fermata.NewTask{})
		now, err := w.Engine.Now(w.Context())
		w.OK(err)
		until := now.Add(time.Hour)
		got, err := w.Engine.DeferTask(w.Context(), w.alice, task.ID, &until)
		w.OK(err)
		w.Equal([]any{fermata.TaskDeferred, until, true}, []any{got.State, *got.DeferUntil, got.CanResume})
		w.checkNoTask()
		w.sweep(59 * time.Minute)
		w.checkState(task.ID, fermata.TaskDeferred)
		w.sweep(time.Minute)
		w.Equal((*time.Time)(nil), w.checkState(task.ID, fermata.TaskOpen).DeferUntil)
		past := now.Add(-time.Hour)
		_, err = w.Engine.DeferTask(w.Context(), w.alice, task.ID, &past)
		w.CheckRefused(err, fermata.CodeInvalidRequest)
		running := w.claimTask(task.ID)
		_, err = w.Engine.DeferTask(w.Context(), w.alice, running.Task.ID, nil)
		w.CheckRefused(err, fermata.CodeIllegalTransition)
	})
}

func TestDeferredForGoodIsReopened(t *testing.T) {
	each(t, func(w *world) {
		task := w.task(fermata.NewTask{})
		_, err := w.Engine.DeferTask(w.Context(), w.alice, task.ID, nil)
		w.OK(err)
		w.sweep(1000 * time.Hour)
		w.checkState(task.ID, fermata.TaskDeferred)
		_, err = w.Engine.ReopenTask(w.Context(), w.alice, task.ID)
		w.OK(err)
		w.claimTask(task.ID)
	})
}

func TestWokenIntoBlocked(t *testing.T) {
	each(t, func(w *world) {
		now, err := w.Engine.Now(w.Context())
		w.OK(err)
		first := w.createRunning(fermata.NewTask{})
		task := w.task(fermata.NewTask{BlockedBy: []string{first.Task.ID}, DeferUntil: ptr(now.Add(time.Second))})
		w.checkState(task.ID, fermata.TaskDeferred)
		w.sweep(time.Second)
		w.checkState(task.ID, fermata.TaskBlocked)
		w.complete(first)
		w.checkState(task.ID, fermata.TaskOpen)
	})
}

func TestReopen(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{MaxAttempts: 1})
		w.sweep(fermata.DefaultLease)
		w.checkState(c.Task.ID, fermata.TaskFailed)
		got, err := w.Engine.ReopenTask(w.Context(), w.alice, c.Task.ID)
		w.OK(err)
		w.Equal([]any{fermata.TaskOpen, 0, ""}, []any{got.State, got.Attempts, got.Reason})
		next := w.claimTask(c.Task.ID)
		w.Equal(2, next.Run.Attempt)
		_, err = w.Engine.ReopenTask(w.Context(), w.alice, c.Task.ID)
		w.CheckRefused(err, fermata.CodeIllegalTransition)
	})
}

// TestReopenedIntoBlocked: an ended task that still depends on another one
// becomes ready, and then waits for it.
func TestReopenedIntoBlocked(t *testing.T) {
	each(t, func(w *world) {
		first := w.createRunning(fermata.NewTask{})
		task := w.task(fermata.NewTask{BlockedBy: []string{first.Task.ID}})
		w.cancel(task.ID)
		_, err := w.Engine.ReopenTask(w.Context(), w.alice, task.ID)
		w.OK(err)
		w.checkState(task.ID, fermata.TaskBlocked)
		w.complete(first)
		w.checkState(task.ID, fermata.TaskInputReceived)
	})
}

func TestResume(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		w.Equal(true, w.checkState(task.ID, fermata.TaskAwaitingInput).CanResume)
		for range 2 {
			got, err := w.Engine.ResumeTask(w.Context(), w.alice, task.ID, "")
			w.OK(err)
			w.Equal(fermata.TaskInputReceived, got.State)
		}
		c := w.claimTask(task.ID)
		w.Equal([]string{"cancelled: " + q.Title}, handedTexts(c.Context))
		w.complete(c)

		first := w.createRunning(fermata.NewTask{})
		blocked := w.task(fermata.NewTask{BlockedBy: []string{first.Task.ID}})
		_, err := w.Engine.ResumeTask(w.Context(), w.alice, blocked.ID, "")
		w.OK(err)
		w.claimTask(blocked.ID)
		_, err = w.Engine.ResumeTask(w.Context(), w.alice, blocked.ID, "")
		w.CheckRefused(err, fermata.CodeIllegalTransition)
	})
}

func TestReadersOnlyRead(t *testing.T) {
	each(t, func(w *world) {
		viewer := w.Person("viewer")
		viewer.Scopes = []fermata.Scope{fermata.ScopeRead}
		id := w.task(fermata.NewTask{}).ID
		_, err := w.Engine.CancelTask(w.Context(), viewer, id, "")
		w.CheckRefused(err, fermata.CodeForbidden)
		_, err = w.Engine.CreateTask(w.Context(), viewer, fermata.NewTask{Title: "x"})
		w.CheckRefused(err, fermata.CodeForbidden)
		_, err = w.Engine.PostMessage(w.Context(), viewer, id, "x")
		w.CheckRefused(err, fermata.CodeForbidden)
		_, err = w.Engine.Task(w.Context(), viewer, id)
		w.OK(err)
	})
}

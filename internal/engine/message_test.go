package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

// TestMessage: the effect of a person's message on a task in each state.
func TestMessage(t *testing.T) {
	for name, c := range map[string]struct {
		task func(w *world) string
		want fermata.TaskState
	}{
		"open":      {func(w *world) string { return w.task(fermata.NewTask{}).ID }, fermata.TaskInputReceived},
		"running":   {func(w *world) string { return w.createRunning(fermata.NewTask{}).Task.ID }, fermata.TaskInProgress},
		"suspended": {func(w *world) string { task, _ := w.createSuspended(format); return task.ID }, fermata.TaskInputReceived},
		"awaiting approval": {func(w *world) string {
			task, _ := w.createSuspended(fermata.Ask{Type: fermata.Approval, Question: "Go?"})
			return task.ID
		}, fermata.TaskInputReceived},
		"deferred": {func(w *world) string {
			return w.task(fermata.NewTask{DeferUntil: ptr(time.Now().Add(time.Hour))}).ID
		}, fermata.TaskInputReceived},
		"blocked": {func(w *world) string {
			return w.task(fermata.NewTask{BlockedBy: []string{w.task(fermata.NewTask{}).ID}}).ID
		}, fermata.TaskBlocked},
		"ended": {func(w *world) string {
			id := w.task(fermata.NewTask{}).ID
			w.cancel(id)
			return id
		}, fermata.TaskCancelled},
		"external, suspended": {func(w *world) string {
			id := w.task(fermata.NewTask{Runner: fermata.RunnerExternal}).ID
			w.ask(id, format)
			return id
		}, fermata.TaskAwaitingInput},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				id := c.task(w)
				w.say(id, "hello")
				w.checkState(id, c.want)
				all, _, err := w.Engine.Messages(w.Context(), w.alice, id, "", 0)
				w.OK(err)
				w.Equal("hello", all[len(all)-1].Body)
			})
		})
	}
}

func TestMessageToABlockedTaskIsHandedLater(t *testing.T) {
	each(t, func(w *world) {
		first := w.createRunning(fermata.NewTask{})
		second := w.task(fermata.NewTask{BlockedBy: []string{first.Task.ID}})
		w.say(second.ID, "later")
		w.complete(first)
		w.checkState(second.ID, fermata.TaskInputReceived)
		w.Equal([]string{"later"}, handedTexts(w.claimTask(second.ID).Context))
	})
}

func TestMessageToAnEndedTaskIsHandedWhenReopened(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{})
		w.complete(c)
		w.say(c.Task.ID, "not good enough")
		w.checkState(c.Task.ID, fermata.TaskDone)
		_, err := w.Engine.ReopenTask(w.Context(), w.alice, c.Task.ID)
		w.OK(err)
		w.checkState(c.Task.ID, fermata.TaskInputReceived)
		w.Equal([]string{"not good enough"}, handedTexts(w.claimTask(c.Task.ID).Context))
	})
}

func TestMessageOfAnAgentInterruptsNobody(t *testing.T) {
	each(t, func(w *world) {
		task, _ := w.createSuspended(format)
		_, err := w.Engine.PostMessage(w.Context(), w.agent, task.ID, "working on it")
		w.OK(err)
		w.checkState(task.ID, fermata.TaskAwaitingInput)
		w.say(task.ID, "ok")
		w.Equal([]string{"ok"}, handedTexts(w.claimTask(task.ID).Context))
	})
}

func TestMessageRefused(t *testing.T) {
	each(t, func(w *world) {
		id := w.task(fermata.NewTask{}).ID
		for _, body := range []string{"", " \n", "a\x00b", "\xff"} {
			_, err := w.Engine.PostMessage(w.Context(), w.alice, id, body)
			w.CheckRefused(err, fermata.CodeInvalidRequest)
		}
		_, err := w.Engine.PostMessage(w.Context(), w.alice, "task_00000000000000000000", "x")
		w.CheckRefused(err, fermata.CodeNotFound)
		w.checkState(id, fermata.TaskOpen)
	})
}

func TestMessagesPage(t *testing.T) {
	each(t, func(w *world) {
		id, other := w.task(fermata.NewTask{}).ID, w.task(fermata.NewTask{}).ID
		var want, got []string
		for i := range 5 {
			want = append(want, fmt.Sprint(i))
			w.Clock.Advance(time.Second)
			w.say(id, want[i])
		}
		cursor := ""
		for {
			page, next, err := w.Engine.Messages(w.Context(), w.alice, id, cursor, 2)
			w.OK(err)
			for _, m := range page {
				got = append(got, m.Body)
			}
			if cursor = next; next == "" {
				break
			}
			_, _, err = w.Engine.Messages(w.Context(), w.alice, other, next, 2)
			w.CheckRefused(err, fermata.CodeInvalidRequest)
		}
		w.Equal(want, got)
	})
}

func TestProgress(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{})
		p := fermata.Progress{Message: "half", Current: 1, Total: 2}
		w.OK(w.Engine.ReportProgress(w.Context(), w.agent, c.Task.ID, p))
		p.Token = c.Run.Token
		w.OK(w.Engine.ReportRunProgress(w.Context(), w.agent, c.Run.ID, p))
		w.CheckRefused(w.Engine.ReportProgress(w.Context(), w.agent, c.Task.ID, fermata.Progress{}), fermata.CodeInvalidRequest)
		w.complete(c)
		w.CheckRefused(w.Engine.ReportProgress(w.Context(), w.agent, c.Task.ID, p), fermata.CodeIllegalTransition)
	})
}

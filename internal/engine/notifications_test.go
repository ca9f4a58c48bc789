package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

// notificationLines lists the notifications of a caller, page by page, newest first.
func (w *world) notificationLines(c fermata.Caller, limit int) (got []string, unread int) {
	w.Helper()
	cursor := ""
	for {
		n, err := w.Engine.Notifications(w.Context(), c, limit, cursor)
		w.OK(err)
		if cursor == "" {
			unread = n.Unread
		}
		for _, item := range n.Items {
			line := string(item.Type) + " " + item.Task.Title
			if item.Question != nil {
				line += " " + string(item.Question.Status)
			}
			got = append(got, line)
		}
		if cursor = n.NextCursor; cursor == "" {
			return got, unread
		}
	}
}

// TestNotifications: people are notified of events that concern them, but not
// of their own actions.
func TestNotifications(t *testing.T) {
	each(t, func(w *world) {
		w.ask(w.task(fermata.NewTask{Title: "before carol came"}).ID, format)
		w.Clock.Advance(time.Second)
		bob, carol := w.Person("bob"), w.Person("carol")
		a := w.createRunning(fermata.NewTask{Title: "a", Priority: ptr(0)})
		ask := format
		ask.Assignees = []string{"bob", "carol"}
		q := w.finish(a, needsInputWith(ask)).PendingQuestionID
		_, err := w.Engine.Answer(w.Context(), bob, q, fermata.Answer{Answer: "toml"})
		w.OK(err)
		w.complete(w.claimTask(a.Task.ID))
		mine, err := w.Engine.CreateTask(w.Context(), func() fermata.Caller {
			c := carol
			c.Scopes = []fermata.Scope{fermata.ScopeAdmin}
			return c
		}(), fermata.NewTask{Title: "carol's", Priority: ptr(0)})
		w.OK(err)
		w.finish(w.claimTask(mine.ID), fermata.Finish{Result: fermata.ResultFailed, Summary: "no"})

		want := []string{"task.ended carol's", "question.answered a answered", "question.asked a answered"}
		for _, limit := range []int{1, 2, 50} {
			got, unread := w.notificationLines(carol, limit)
			w.Equal(want, got)
			// What asked her is answered.
			w.Equal(2, unread)
		}
		// Bob gave the answer, so only the end of the task is news to him.
		got, _ := w.notificationLines(bob, 50)
		w.Equal([]string{"task.ended a", "question.asked a answered"}, got)

		first, err := w.Engine.Notifications(w.Context(), carol, 3, "")
		w.OK(err)
		n, err := w.Engine.MarkNotificationsRead(w.Context(), carol, first.Items[1].Seq)
		w.OK(err)
		w.Equal([]any{1, first.Items[1].Seq}, []any{n.Unread, n.ReadUpTo})
		n, err = w.Engine.MarkNotificationsRead(w.Context(), carol, 1<<40)
		w.OK(err)
		w.Equal(0, n.Unread)
		open := w.ask(w.task(fermata.NewTask{}).ID, format)
		for answered, want := range []int{1, 0} {
			n, err = w.Engine.Notifications(w.Context(), carol, 1, "")
			w.OK(err)
			w.Equal([]any{want, want > 0}, []any{n.Unread, n.Items[0].Unread})
			if answered == 0 {
				_, err = w.Engine.Answer(w.Context(), carol, open.ID, fermata.Answer{Answer: "toml"})
				w.OK(err)
			}
		}
		_, err = w.Engine.Notifications(w.Context(), w.agent, 1, "")
		w.CheckRefused(err, fermata.CodeForbidden)
	})
}

// TestNotificationsAmongManyEvents: events that concern a person are found
// behind many others.
func TestNotificationsAmongManyEvents(t *testing.T) {
	each(t, func(w *world) {
		task := w.task(fermata.NewTask{Title: "first"})
		w.ask(task.ID, format)
		for range 600 {
			w.OK(w.Engine.ReportProgress(w.Context(), w.agent, task.ID, fermata.Progress{Message: "on it"}))
		}
		want := []string{}
		for i := range 3 {
			w.ask(w.task(fermata.NewTask{Title: fmt.Sprint(i)}).ID, format)
			want = append(want, fmt.Sprintf("question.asked %d pending", i))
		}
		slices.Reverse(want)
		got, unread := w.notificationLines(w.alice, 2)
		w.Equal(append(want, "question.asked first pending"), got)
		w.Equal(4, unread)
	})
}

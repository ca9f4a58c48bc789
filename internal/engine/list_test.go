package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/test/patience"
)

func TestTasksPage(t *testing.T) {
	each(t, func(w *world) {
		for i := range 5 {
			w.Clock.Advance(time.Second)
			w.task(fermata.NewTask{Title: fmt.Sprint("t", i), Labels: []string{"x"}})
		}
		var got []string
		f := engine.TaskFilter{Label: "x", Limit: 2}
		for {
			page, next, err := w.Engine.Tasks(w.Context(), w.alice, f)
			w.OK(err)
			for _, task := range page {
				got = append(got, task.Title)
			}
			if f.Cursor = next; next == "" {
				break
			}
		}
		w.Equal([]string{"t4", "t3", "t2", "t1", "t0"}, got)
	})
}

func TestNeedsPerson(t *testing.T) {
	each(t, func(w *world) {
		w.task(fermata.NewTask{Priority: ptr(4)})
		task := w.createRunning(fermata.NewTask{Priority: ptr(0)})
		q := w.finish(task, needsInputWith(format)).PendingQuestionID
		got, _, err := w.Engine.Tasks(w.Context(), w.alice, engine.TaskFilter{NeedsPerson: true})
		w.OK(err)
		if len(got) != 1 || got[0].PendingQuestion == nil || got[0].PendingQuestion.ID != q || !got[0].CanResume {
			w.Fatalf("tasks: %+v", got)
		}
	})
}

func TestQuestionsPage(t *testing.T) {
	each(t, func(w *world) {
		var want []string
		for _, c := range []struct {
			priority int
			timeout  fermata.Timeout
		}{{0, "2h"}, {1, "1h"}, {1, "3h"}, {1, fermata.Never}, {3, "1h"}} {
			q := w.ask(w.task(fermata.NewTask{}).ID, fermata.Ask{Question: "a?", Priority: &c.priority, Timeout: c.timeout})
			want = append(want, q.ID)
		}
		for _, status := range []string{"pending", ""} {
			seen := map[string]bool{}
			var got []string
			f := engine.QuestionFilter{Status: status, Limit: 2}
			for {
				page, next, err := w.Engine.Questions(w.Context(), w.alice, f)
				w.OK(err)
				for _, q := range page {
					got = append(got, q.ID)
					seen[q.ID] = true
				}
				if f.Cursor = next; next == "" {
					break
				}
			}
			w.Equal(len(want), len(seen))
			if status == "pending" {
				w.Equal(want, got)
			}
		}
	})
}

// TestForeignCursors: a cursor works only with the list and the filters that it
// came from.
func TestForeignCursors(t *testing.T) {
	each(t, func(w *world) {
		for range 3 {
			w.ask(w.task(fermata.NewTask{}).ID, format)
		}
		_, tasks, err := w.Engine.Tasks(w.Context(), w.alice, engine.TaskFilter{Limit: 1})
		w.OK(err)
		_, pending, err := w.Engine.Questions(w.Context(), w.alice, engine.QuestionFilter{Status: "pending", Limit: 1})
		w.OK(err)
		for _, cursor := range []string{pending, "x", "%%%", tasks + "x", "e30"} {
			_, _, err = w.Engine.Tasks(w.Context(), w.alice, engine.TaskFilter{Cursor: cursor})
			w.CheckRefused(err, fermata.CodeInvalidRequest)
		}
		for _, f := range []engine.TaskFilter{{Project: "web"}, {NeedsPerson: true}, {Q: "x"}, {State: []fermata.TaskState{fermata.TaskOpen}}} {
			f.Cursor = tasks
			_, _, err = w.Engine.Tasks(w.Context(), w.alice, f)
			w.CheckRefused(err, fermata.CodeInvalidRequest)
		}
		for _, f := range []engine.QuestionFilter{{}, {Status: "pending", Project: "web"}, {Status: "answered"}} {
			f.Cursor = pending
			_, _, err = w.Engine.Questions(w.Context(), w.alice, f)
			w.CheckRefused(err, fermata.CodeInvalidRequest)
		}
		_, _, err = w.Engine.Tasks(w.Context(), w.alice, engine.TaskFilter{Cursor: tasks, Limit: 7})
		w.OK(err)
	})
}

func TestShortEndings(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		short := func(id string) string { return id[len(id)-9:] }
		got, err := w.Engine.Task(w.Context(), w.alice, short(task.ID))
		w.OK(err)
		w.Equal(task.ID, got.ID)
		_, err = w.Engine.Answer(w.Context(), w.alice, short(q.ID), fermata.Answer{Answer: "toml"})
		w.OK(err)
		_, err = w.Engine.Run(w.Context(), w.alice, short(task.RunID))
		w.OK(err)
		questions, _, err := w.Engine.Questions(w.Context(), w.alice, engine.QuestionFilter{TaskID: short(task.ID)})
		w.OK(err)
		w.Equal(1, len(questions))
		_, err = w.Engine.Task(w.Context(), w.alice, "zzzzzzzzz")
		w.CheckRefused(err, fermata.CodeNotFound)
		runs, err := w.Engine.Runs(w.Context(), w.alice, short(task.ID))
		w.OK(err)
		w.Equal(1, len(runs))
	})
}

func TestEvents(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		w.answer(q.ID, "toml")
		want := []fermata.EventType{
			fermata.EventTaskCreated, fermata.EventTaskClaimed, fermata.EventRunFinished, fermata.EventQuestionAsked,
			fermata.EventQuestionAnswered,
		}
		w.Equal(want, w.types(task.ID))
		page, next, err := w.Engine.Events(w.Context(), w.alice, engine.EventFilter{TaskID: task.ID[len(task.ID)-9:], Limit: 3})
		w.OK(err)
		w.Equal(3, len(page))
		page, _, err = w.Engine.Events(w.Context(), w.alice, engine.EventFilter{TaskID: task.ID, After: next})
		w.OK(err)
		w.Equal(2, len(page))
		_, next, err = w.Engine.Events(w.Context(), w.alice, engine.EventFilter{After: 1000})
		w.OK(err)
		w.Equal(int64(1000), next)
	})
}

func TestStats(t *testing.T) {
	each(t, func(w *world) {
		_, q := w.createSuspended(format)
		w.createSuspended(fermata.Ask{Type: fermata.Approval, Question: "Go?"})
		w.task(fermata.NewTask{})
		w.Clock.Advance(time.Minute)
		got, err := w.Engine.Stats(w.Context())
		w.OK(err)
		w.Equal(map[fermata.QuestionType]int64{fermata.Blocking: 1, fermata.Approval: 1}, got.Pending)
		want := fermata.NewTaskCounts().States
		want[fermata.TaskAwaitingInput], want[fermata.TaskAwaitingApproval], want[fermata.TaskOpen] = 1, 1, 1
		w.Equal(want, got.Tasks)
		if got.OldestPendingSeconds < 60 || got.OldestPendingSeconds > 120 {
			w.Errorf("the oldest waits for %v seconds", got.OldestPendingSeconds)
		}
		w.answer(q.ID, "toml")
		got, err = w.Engine.Stats(w.Context())
		w.OK(err)
		w.Equal(map[fermata.QuestionType]int64{fermata.Approval: 1}, got.Pending)
	})
}

func TestProjects(t *testing.T) {
	each(t, func(w *world) {
		w.task(fermata.NewTask{Project: "web"})
		w.task(fermata.NewTask{Project: "web"})
		got, err := w.Engine.Projects(w.Context(), w.alice)
		w.OK(err)
		w.Equal([]string{"default", "web"}, got)
	})
}

func TestWaitQuestion(t *testing.T) {
	each(t, func(w *world) {
		_, q := w.createSuspended(format)
		got, err := w.Engine.WaitQuestion(w.Context(), w.agent, q.ID, 0)
		w.OK(err)
		w.Equal(fermata.Pending, got.Status)
		waited := make(chan *fermata.Question, 2)
		for range 2 {
			go func() {
				q, err := w.Engine.WaitQuestion(w.Context(), w.agent, q.ID, patience.Limit())
				if err != nil {
					w.Errorf("wait: %v", err)
				}
				waited <- q
			}()
		}
		w.answer(q.ID, "toml")
		for range 2 {
			w.Equal(fermata.Answered, patience.Receive(w, "the wait ends", waited).Status)
		}
	})
}

package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// timeline reads the whole timeline of a task, a few entries at a time.
func (w *world) timeline(id string, limit int) fermata.Timeline {
	w.Helper()
	var all fermata.Timeline
	f := engine.TimelineFilter{TaskID: id, Limit: limit}
	for {
		part, next, err := w.Engine.Timeline(w.Context(), w.alice, f)
		w.OK(err)
		if len(part) > limit {
			w.Fatalf("a part has %d entries", len(part))
		}
		all = append(part, all...)
		if f.Cursor = next; next == "" {
			return all
		}
	}
}

func TestTimeline(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{Title: "Build"})
		w.OK(w.Engine.ReportRunProgress(w.Context(), w.agent, c.Run.ID, fermata.Progress{Token: c.Run.Token, Message: "half", Current: 1, Total: 2}))
		q := w.finish(c, needsInputWith(format)).PendingQuestionID
		_, err := w.Engine.Clarify(w.Context(), w.alice, q, "why?")
		w.OK(err)
		w.answer(q, "toml")
		w.cancel(c.Task.ID)
		for _, limit := range []int{1, 3, 100} {
			var got []string
			seq := int64(0)
			for _, e := range w.timeline(c.Task.ID, limit) {
				if e.Seq <= seq {
					w.Errorf("event %d stands behind event %d", e.Seq, seq)
				}
				seq = e.Seq
				got = append(got, entryText(e))
			}
			w.Equal([]string{
				"task →open", "run open→in_progress finished needs_input", "progress half", "run finished needs_input",
				"question in_progress→awaiting_input answered toml", "message awaiting_input→input_received why?",
				"question by alice: toml", "task input_received→cancelled not needed", "message not needed",
			}, got)
		}
	})
}

// entryText returns an entry in a short form.
func entryText(e *fermata.TimelineEntry) string {
	s := string(e.Kind)
	if e.To != "" {
		s += fmt.Sprintf(" %s→%s", e.From, e.To)
	}
	if e.Reason != "" {
		s += " " + e.Reason
	}
	if e.Run != nil {
		s += fmt.Sprintf(" %s %s", e.Run.State, e.Run.Result)
	}
	if e.Progress != nil {
		s += " " + e.Progress.Message
	}
	if e.Message != nil {
		s += " " + e.Message.Body
	}
	if e.Question != nil {
		s += fmt.Sprintf(" %s %s", e.Question.Status, e.Question.Resolution.AnswerText())
	}
	if e.Resolution != nil {
		s += fmt.Sprintf(" by %s: %s", e.Resolution.AnsweredBy.Name, e.Resolution.AnswerText())
	}
	return s
}

func TestTimelineIsOfOneTask(t *testing.T) {
	each(t, func(w *world) {
		one, other := w.task(fermata.NewTask{}), w.task(fermata.NewTask{})
		w.say(one.ID, "hello")
		_, next, err := w.Engine.Timeline(w.Context(), w.alice, engine.TimelineFilter{TaskID: one.ID, Limit: 1})
		w.OK(err)
		_, _, err = w.Engine.Timeline(w.Context(), w.alice, engine.TimelineFilter{TaskID: other.ID, Cursor: next})
		w.CheckRefused(err, fermata.CodeInvalidRequest)
		_, _, err = w.Engine.Timeline(w.Context(), w.alice, engine.TimelineFilter{TaskID: "task_00000000000000000000"})
		w.CheckRefused(err, fermata.CodeNotFound)
		w.Equal(1, len(w.timeline(other.ID, 9)))
	})
}

func TestTaskOrdersAndCounts(t *testing.T) {
	each(t, func(w *world) {
		low := w.task(fermata.NewTask{Title: "low", Priority: ptr(4), Agent: "review"})
		w.Clock.Advance(time.Second)
		high := w.task(fermata.NewTask{Title: "high", Priority: ptr(0), Project: "web"})
		w.Clock.Advance(time.Second)
		w.say(low.ID, "hello")
		for sort, want := range map[fermata.TaskSort][]string{
			"": {"high", "low"}, fermata.SortOldest: {"low", "high"}, fermata.SortPriority: {"high", "low"}, fermata.SortUpdated: {"low", "high"},
		} {
			var got []string
			f := engine.TaskFilter{Sort: sort, Limit: 1}
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
			w.Log(sort)
			w.Equal(want, got)
		}
		for _, f := range []engine.TaskFilter{{Sort: "size"}, {State: []fermata.TaskState{"lost"}}} {
			_, _, err := w.Engine.Tasks(w.Context(), w.alice, f)
			w.CheckRefused(err, fermata.CodeInvalidRequest)
			_, err = w.Engine.TaskCounts(w.Context(), w.alice, f)
			w.CheckRefused(err, fermata.CodeInvalidRequest)
		}
		for name, c := range map[string]struct {
			filter engine.TaskFilter
			want   []int64
		}{
			"all": {engine.TaskFilter{}, []int64{2, 1, 1, 2}}, "web": {engine.TaskFilter{Project: "web"}, []int64{1, 1, 0, 1}},
			"review": {engine.TaskFilter{Agent: "review"}, []int64{1, 0, 1, 1}}, "none": {engine.TaskFilter{Label: "x"}, []int64{0, 0, 0, 0}},
		} {
			got, err := w.Engine.TaskCounts(w.Context(), w.alice, c.filter)
			w.OK(err)
			w.Log(name)
			w.Equal(c.want, []int64{got.Total, got.States[fermata.TaskOpen], got.States[fermata.TaskInputReceived], got.Columns[fermata.ColumnReady]})
		}
		_ = high
	})
}

func TestWaitingTasksSayForWhat(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(fermata.Ask{Question: "Go?", Assignees: []string{"alice"}, Timeout: "1h"})
		want := &fermata.TaskWaiting{
			QuestionID: q.ID, Type: q.Type, Title: q.Title, Since: q.CreatedAt, Deadline: q.Deadline, OnTimeout: fermata.FailTask,
			Assignees: []string{"alice"},
		}
		list, _, err := w.Engine.Tasks(w.Context(), w.alice, engine.TaskFilter{NeedsPerson: true})
		w.OK(err)
		w.Equal(want, list[0].Waiting)
		w.answer(q.ID, "yes")
		got, err := w.Engine.Task(w.Context(), w.alice, task.ID)
		w.OK(err)
		if got.Waiting != nil {
			w.Errorf("still waits: %+v", got.Waiting)
		}
	})
}

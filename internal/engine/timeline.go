package engine

import (
	"context"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// TimelineFilter selects a part of a task's timeline.
type TimelineFilter struct {
	TaskID string
	Limit  int
	// Cursor is the cursor of the part to return, as [Engine.Timeline] returned
	// it; empty is the newest part.
	Cursor string
}

// Timeline returns the newest part of a task's timeline, or the part at the
// cursor. The oldest entry comes first. It also returns the cursor of the part
// before, or "" if there is none.
func (e *Engine) Timeline(ctx context.Context, c fermata.Caller, f TimelineFilter) (fermata.Timeline, string, error) {
	if err := c.CheckPermission(fermata.ToReadTasks, fermata.UnloadedResource); err != nil {
		return nil, "", err
	}
	id, err := e.taskID(ctx, c, f.TaskID)
	if err != nil {
		return nil, "", err
	}
	r := e.reader(ctx, c)
	t, err := r.Task(id)
	if err != nil {
		return nil, "", err
	}
	query := store.EventFilter{TaskID: id, Newest: true, Limit: pageSize(f.Limit) + 1}
	list := cursorOf("timeline", f.Cursor, id)
	if err := list.read(&query.Before); err != nil {
		return nil, "", err
	}
	events, err := r.Events(query)
	if err != nil {
		return nil, "", err
	}
	events, more := trimPage(events, f.Limit)
	slices.Reverse(events)
	timeline := fermata.NewTimeline(events)
	if err := fillTimeline(r, c, t, timeline); err != nil || !more {
		return timeline, "", err
	}
	return timeline, list.write(timeline[0].Seq), nil
}

// fillTimeline reads the messages, questions and runs that the entries refer
// to.
func fillTimeline(r store.Reader, c fermata.Caller, t *fermata.Task, timeline fermata.Timeline) error {
	messageIDs, questionIDs, runIDs := timeline.NeededIDs()
	messages, err := r.MessagesByID(messageIDs)
	if err != nil {
		return err
	}
	for _, m := range messages {
		m.Handoff = t.HandoffStateOf(m)
	}
	questions, err := r.QuestionsByID(questionIDs)
	if err != nil {
		return err
	}
	for i, q := range questions {
		questions[i] = q.ViewFor(c)
	}
	runs, err := r.RunsByID(runIDs)
	if err != nil {
		return err
	}
	timeline.Fill(messages, questions, publicRuns(runs))
	return nil
}

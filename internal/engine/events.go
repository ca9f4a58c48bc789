package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// EventFilter narrows a list of events.
type EventFilter struct {
	After  int64
	TaskID string
	Types  []string
	Limit  int
}

// Events lists events in order. It also returns the number to pass as After for
// the next page.
func (e *Engine) Events(ctx context.Context, c fermata.Caller, f EventFilter) ([]*fermata.Event, int64, error) {
	if err := c.CheckPermission(fermata.ToReadEvents, fermata.UnloadedResource); err != nil {
		return nil, 0, err
	}
	types, err := fermata.VisibleEventTypes(c, "type", f.Types)
	if err != nil {
		return nil, 0, err
	}
	if f.TaskID != "" {
		id, err := e.taskID(ctx, c, f.TaskID)
		if err != nil {
			return nil, 0, err
		}
		f.TaskID = id
	}
	events, err := e.listReader(ctx, c).Events(store.EventFilter{
		After: f.After, TaskID: f.TaskID, Types: types, Limit: pageSize(f.Limit),
	})
	if err != nil {
		return nil, 0, err
	}
	next := f.After
	if n := len(events); n > 0 {
		next = events[n-1].Seq
	}
	return events, next, nil
}

// Stats are gauges of the whole database.
type Stats struct {
	Pending              map[fermata.QuestionType]int64
	Tasks                map[fermata.TaskState]int64
	OldestPendingSeconds float64
}

// Stats counts pending questions by type and tasks by state.
func (e *Engine) Stats(ctx context.Context) (Stats, error) {
	s := Stats{Pending: map[fermata.QuestionType]int64{}, Tasks: map[fermata.TaskState]int64{}}
	r := e.db.Reader(ctx, "")
	pending, err := r.CountPending()
	if err != nil {
		return s, err
	}
	now, err := e.db.Now(ctx)
	if err != nil {
		return s, err
	}
	for _, n := range pending {
		s.Pending[fermata.QuestionType(n.Kind)] = n.N
		age := float64(now.UnixMilli()-n.Oldest) / 1000
		s.OldestPendingSeconds = max(s.OldestPendingSeconds, age)
	}
	workspaces, err := r.Workspaces()
	if err != nil {
		return s, err
	}
	for _, w := range workspaces {
		counts, err := e.tail.countTasks(ctx, w, func(string) bool { return true })
		if err != nil {
			return s, err
		}
		for state, n := range counts.States {
			s.Tasks[state] += n
		}
	}
	return s, nil
}

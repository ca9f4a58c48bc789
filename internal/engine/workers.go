package engine

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// noteEvery is the shortest time between two database records of the same worker.
const noteEvery = 30 * time.Second

// roll remembers when this process last recorded each worker, so that not every claim causes a write.
type roll struct {
	mu    sync.Mutex
	noted map[string]time.Time
}

// shouldRecord reports whether to record the worker now. If so, the caller records it.
func (l *roll) shouldRecord(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if last, ok := l.noted[key]; ok && now.Sub(last) < noteEvery {
		return false
	}
	for other, last := range l.noted {
		if now.Sub(last) >= noteEvery {
			delete(l.noted, other)
		}
	}
	if l.noted == nil {
		l.noted = map[string]time.Time{}
	}
	l.noted[key] = now
	return true
}

// forget makes the worker due for a record again, because the caller could not store it.
func (l *roll) forget(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.noted, key)
}

// rollKey returns a key that is different for workers that take different tasks.
func rollKey(workspace string, w fermata.Worker) (string, error) {
	key, err := json.Marshal([]any{workspace, w.Name, w.Runners, w.Projects, w.Agents, w.Isolates, w.Visible})
	return string(key), err
}

// noteWorker records that the worker asked for a task, and which tasks it takes. It writes at most once in noteEvery.
func (e *Engine) noteWorker(ctx context.Context, c fermata.Caller, w fermata.Worker) error {
	key, err := rollKey(c.WorkspaceID, w)
	if err != nil || !e.roll.shouldRecord(key) {
		return err
	}
	err = e.db.Write(ctx, c.WorkspaceID, func(tx *store.Tx) error {
		tx.SaveWorker(w)
		return nil
	})
	if err != nil {
		e.roll.forget(key)
	}
	return err
}

// LeaveWorker removes a worker that stops asking for tasks from the list. The request must be the one with which it
// claimed.
func (e *Engine) LeaveWorker(ctx context.Context, c fermata.Caller, r fermata.ClaimRequest) error {
	if err := c.May(fermata.ToClaim, fermata.Somewhere); err != nil {
		return err
	}
	if err := r.Check(); err != nil {
		return err
	}
	r.Visible = r.Visible.And(c.VisibleProjects())
	key, err := rollKey(c.WorkspaceID, r.Offer())
	if err != nil {
		return err
	}
	_, err = write(ctx, e, c, fermata.ToClaim, func(tx *store.Tx) (struct{}, error) {
		tx.RemoveWorker(r.Offer())
		return struct{}{}, nil
	})
	e.roll.forget(key)
	return err
}

// Workers lists the workers of the last week that take tasks of a project which the caller may see.
func (e *Engine) Workers(ctx context.Context, c fermata.Caller) ([]fermata.Worker, error) {
	if err := c.May(fermata.ToReadTasks, fermata.Somewhere); err != nil {
		return nil, err
	}
	return e.workers(ctx, c)
}

func (e *Engine) workers(ctx context.Context, c fermata.Caller) ([]fermata.Worker, error) {
	now, err := e.db.Now(ctx)
	if err != nil {
		return nil, err
	}
	all, err := e.reads(ctx, c).Workers(now)
	seen := make([]fermata.Worker, 0, len(all))
	for _, w := range all {
		if w, ok := w.SeenBy(c.VisibleProjects()); ok {
			seen = append(seen, w)
		}
	}
	return seen, err
}

// fillNoWorker sets the reason on each task that waits for a worker but that no running worker takes.
func (e *Engine) fillNoWorker(ctx context.Context, c fermata.Caller, tasks []*fermata.Task) error {
	if !slices.ContainsFunc(tasks, (*fermata.Task).WaitsForWorker) {
		return nil
	}
	workers, err := e.workers(ctx, c)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		if t.WaitsForWorker() {
			t.NoWorker = t.Kind().NoWorker(workers)
		}
	}
	return nil
}

package engine

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// workerRecordInterval is the shortest time between two database records of the same worker.
const workerRecordInterval = 30 * time.Second

// workerFlushInterval is how often workers are recorded that were recorded before.
const workerFlushInterval = 2 * time.Second

// recordedWorkers remembers when this process last recorded each worker, so that not every claim causes a write.
type recordedWorkers struct {
	mu           sync.Mutex
	lastRecorded map[string]recordedWorker
	prunedAt     time.Time
	// due are the workers to record with the next flush, by workspace and by key.
	due map[string]map[string]fermata.Worker
	// seen holds when workers of a name were recorded last, by the database's clock.
	seen map[workerName]time.Time
}

// workerName is the name of workers of a workspace.
type workerName struct{ workspace, name string }

// recordedWorker is a worker, and when it was recorded.
type recordedWorker struct {
	workerName
	at time.Time
}

// shouldRecord reports whether the caller must record the worker now. It returns false if the worker was recorded a moment
// ago, or if the next flush records it.
func (r *recordedWorkers) shouldRecord(key, workspace string, w fermata.Worker) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	age := now.Sub(r.lastRecorded[key].at)
	if age < workerRecordInterval {
		return false
	}
	r.prune(now)
	if r.lastRecorded == nil {
		r.lastRecorded = map[string]recordedWorker{}
	}
	r.lastRecorded[key] = recordedWorker{workerName{workspace, w.Name}, now}
	if age >= fermata.WorkerSilence {
		return true
	}
	if r.due == nil {
		r.due = map[string]map[string]fermata.Worker{}
	}
	if r.due[workspace] == nil {
		r.due[workspace] = map[string]fermata.Worker{}
	}
	r.due[workspace][key] = w
	return false
}

// prune forgets the workers that have made no claim for long.
func (r *recordedWorkers) prune(now time.Time) {
	if now.Sub(r.prunedAt) < workerRecordInterval {
		return
	}
	r.prunedAt = now
	for key, last := range r.lastRecorded {
		if now.Sub(last.at) >= fermata.WorkerSilence {
			delete(r.lastRecorded, key)
			delete(r.seen, last.workerName)
		}
	}
}

// noteSeen notes that workers were recorded at an instant of the database's clock.
func (r *recordedWorkers) noteSeen(workspace string, at time.Time, workers ...fermata.Worker) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = map[workerName]time.Time{}
	}
	for _, w := range workers {
		r.seen[workerName{workspace, w.Name}] = at
	}
}

// wasSeen reports whether workers of the name were recorded shortly before an instant of the database's clock.
func (r *recordedWorkers) wasSeen(workspace, name string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.seen[workerName{workspace, name}]
	return ok && now.Sub(at) < workerRecordInterval
}

// takeDue returns the workers to record, by workspace and by key.
func (r *recordedWorkers) takeDue() map[string]map[string]fermata.Worker {
	r.mu.Lock()
	defer r.mu.Unlock()
	due := r.due
	r.due = nil
	return due
}

// forgetName lets the next claim of each worker of the name record it again.
func (r *recordedWorkers) forgetName(workspace, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, w := range r.lastRecorded {
		if w.workerName == (workerName{workspace, name}) {
			delete(r.lastRecorded, key)
			delete(r.due[workspace], key)
		}
	}
	delete(r.seen, workerName{workspace, name})
}

// forget lets the next claim record the worker again. It is called if the record was removed or could not be stored.
func (r *recordedWorkers) forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.lastRecorded, key)
	for _, workers := range r.due {
		delete(workers, key)
	}
}

// workerKey returns a key that is different for workers that take different tasks.
func workerKey(workspace string, w fermata.Worker) (string, error) {
	key, err := json.Marshal([]any{workspace, w.Name, w.Runners, w.Projects, w.Agents, w.Isolates, w.Visible})
	return string(key), err
}

// recordWorker records that the worker asked for a task, and which tasks it takes. It writes only if this process does not
// know the worker. Later records are written together; see [Engine.recordDueWorkers].
func (e *Engine) recordWorker(ctx context.Context, c fermata.Caller, w fermata.Worker) error {
	key, err := workerKey(c.WorkspaceID, w)
	if err != nil || !e.recordedWorkers.shouldRecord(key, c.WorkspaceID, w) {
		return err
	}
	if err = e.saveWorkers(ctx, c.WorkspaceID, w); err != nil {
		e.recordedWorkers.forget(key)
	}
	return err
}

// saveWorkers records workers, with one write.
func (e *Engine) saveWorkers(ctx context.Context, workspace string, workers ...fermata.Worker) error {
	var at time.Time
	err := e.db.Write(ctx, workspace, func(tx *store.Tx) error {
		at = tx.Now()
		tx.SaveWorkers(workers...)
		return nil
	})
	if err == nil {
		e.recordedWorkers.noteSeen(workspace, at, workers...)
	}
	return err
}

// recordDueWorkers records the workers that are due, with one write for each workspace.
func (e *Engine) recordDueWorkers(ctx context.Context) {
	for workspace, workers := range e.recordedWorkers.takeDue() {
		err := e.saveWorkers(ctx, workspace, slices.Collect(maps.Values(workers))...)
		if err == nil {
			continue
		}
		for key := range workers {
			e.recordedWorkers.forget(key)
		}
		if ctx.Err() == nil {
			e.log.ErrorContext(ctx, "record workers", "error", err)
		}
	}
}

// RemoveWorker removes a worker that stops asking for tasks from the list. The request must be the one with which it
// claimed.
func (e *Engine) RemoveWorker(ctx context.Context, c fermata.Caller, r fermata.ClaimRequest) error {
	if err := c.CheckPermission(fermata.ToClaim, fermata.UnloadedResource); err != nil {
		return err
	}
	if err := r.Check(); err != nil {
		return err
	}
	r.Visible = r.Visible.Intersect(c.VisibleProjects())
	key, err := workerKey(c.WorkspaceID, r.ClaimingWorker())
	if err != nil {
		return err
	}
	e.recordedWorkers.forget(key)
	_, err = write(ctx, e, c, fermata.ToClaim, func(tx *store.Tx) (struct{}, error) {
		tx.RemoveWorker(r.ClaimingWorker())
		return struct{}{}, nil
	})
	return err
}

// touchWorker records that the worker of a run called the server, unless it was recorded a moment ago.
func (e *Engine) touchWorker(tx *store.Tx, run *fermata.Run) {
	if !e.recordedWorkers.wasSeen(run.WorkspaceID, run.Worker, tx.Now()) {
		tx.TouchWorkers(run.Worker)
	}
}

// markWorkerLost makes the worker of a run whose lease has ended count as not running, until it asks for a task again.
func (e *Engine) markWorkerLost(tx *store.Tx, run *fermata.Run) {
	tx.MarkWorkersLost(run.Worker, run.RenewedAt())
	e.recordedWorkers.forgetName(run.WorkspaceID, run.Worker)
}

// Workers lists the workers of the last week that take tasks of a project which the caller may see.
func (e *Engine) Workers(ctx context.Context, c fermata.Caller) ([]fermata.Worker, error) {
	if err := c.CheckPermission(fermata.ToReadTasks, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	return e.workers(ctx, c)
}

func (e *Engine) workers(ctx context.Context, c fermata.Caller) ([]fermata.Worker, error) {
	now, err := e.db.Now(ctx)
	if err != nil {
		return nil, err
	}
	all, err := e.reader(ctx, c).Workers(now)
	seen := make([]fermata.Worker, 0, len(all))
	for _, w := range all {
		if w, ok := w.ViewFor(c.VisibleProjects()); ok {
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

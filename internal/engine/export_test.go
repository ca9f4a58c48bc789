package engine

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata/internal/store"
)

// ReadShell is the function with which Gate reads command lines.
var ReadShell = readShell

// SetAuditBounds sets how many events a search reads.
func SetAuditBounds(e *Engine, window, maxEvents int64) {
	e.auditBounds = auditBounds{window, maxEvents}
}

// SignEnds signs the checkpoints that are due, and gives them to the witnesses.
func (e *Engine) SignEnds(ctx context.Context) error {
	return newCheckpointer(e).signDueCheckpoints(ctx)
}

// SetRescanInterval sets how often the engine checks for changes without a wake-up. Call it before anything waits.
func SetRescanInterval(e *Engine, interval time.Duration) {
	e.hub.rescanInterval, e.claims.lookInterval, e.claims.executorLookInterval = interval, interval, interval
}

// ReadyClaims returns the number of claims for which a write may take a task.
func ReadyClaims(e *Engine) int {
	e.claims.mu.Lock()
	defer e.claims.mu.Unlock()
	ready := 0
	for _, in := range e.claims.workspaces {
		for _, f := range in.filters {
			for place := f.queue.Front(); place != nil; place = place.Next() {
				if place.Value.(*waitingClaim).isReady { //nolint:forcetypeassert // the queue holds nothing else
					ready++
				}
			}
		}
	}
	return ready
}

// LookForClaims looks once for tasks that were not offered to waiting claims.
func LookForClaims(ctx context.Context, e *Engine) { e.claims.look(ctx) }

// AgeWorkerRecords makes the records of workers older, as this process remembers them.
func AgeWorkerRecords(e *Engine, by time.Duration) {
	e.recordedWorkers.mu.Lock()
	defer e.recordedWorkers.mu.Unlock()
	for key, w := range e.recordedWorkers.lastRecorded {
		w.at = w.at.Add(-by)
		e.recordedWorkers.lastRecorded[key] = w
	}
}

// RecordDueWorkers records the workers that are due.
func RecordDueWorkers(ctx context.Context, e *Engine) { e.recordDueWorkers(ctx) }

// KnowsCounts reports whether the tasks of the first workspace are counted without the database.
func KnowsCounts(e *Engine) bool {
	_, ok := e.tail.knownCounts(store.DefaultWorkspace, func(string) bool { return true })
	return ok
}

// ErrOutdatedPlan is the error of a removal after another write has changed what was to be removed.
var ErrOutdatedPlan = errOutdatedPlan

// PlanRemoval plans the removal of tasks that ended so long ago, and returns the function that removes them.
func PlanRemoval(ctx context.Context, e *Engine, kept time.Duration) (func() error, error) {
	now, err := e.db.Now(ctx)
	if err != nil {
		return nil, err
	}
	t := &retention{ctx: ctx, e: e, r: e.db.Reader(ctx, store.DefaultWorkspace), now: now}
	plan, err := t.planTrim(now.Add(-kept))
	return func() error { return t.write(plan.apply) }, err
}

// PolicyDifference says how a policy differs from an event.
var PolicyDifference = policyDifference

// RetentionBatch is the most tasks that retention removes in one transaction.
const RetentionBatch = retentionBatch

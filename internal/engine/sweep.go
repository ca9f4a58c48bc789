package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// sweepBatch is the largest number of rows of each kind that one sweep handles.
// sweepWidth is the largest number of them that are written at the same time,
// and may share a commit.
const (
	sweepBatch = 512
	sweepWidth = 128
)

// Sweep settles the rows that are due, at most 512 of each kind: held answers,
// deadlines, leases, deferrals. Several replicas may sweep at the same time,
// and each row is settled once. It returns the number of rows that it found.
func (e *Engine) Sweep(ctx context.Context) (int, error) {
	now, err := e.db.Now(ctx)
	if err != nil {
		return 0, err
	}
	total := 0
	var errs []error
	overdue, err := e.db.OverdueRows(ctx, now, sweepBatch)
	if err != nil {
		return 0, err
	}
	for _, s := range []struct {
		due   []store.DueRow
		apply func(tx *store.Tx, id string) error
		ahead func(id string) store.ReadAhead
	}{
		{overdue.HeldAnswers, e.releaseDueAnswer, func(id string) store.ReadAhead { return store.ReadAhead{Question: id, Events: true} }},
		{overdue.Questions, e.expireDue, func(id string) store.ReadAhead { return store.ReadAhead{Question: id, Events: true} }},
		{overdue.Runs, e.takeBackDue, func(id string) store.ReadAhead { return store.ReadAhead{Run: id} }},
		{overdue.Tasks, e.wakeDue, func(id string) store.ReadAhead { return store.ReadAhead{Task: id} }},
	} {
		total += len(s.due)
		// A row that cannot be settled must not stop the others.
		errs = append(errs, e.applyToEach(ctx, s.due, s.apply, s.ahead))
	}
	return total, errors.Join(errs...)
}

// applyToEach applies a change to every row, each in a transaction of its own.
// Transactions that come together share a commit. It handles all rows and then
// returns the first error.
func (e *Engine) applyToEach(ctx context.Context, due []store.DueRow, apply func(tx *store.Tx, id string) error,
	ahead func(id string) store.ReadAhead,
) error {
	var wg sync.WaitGroup
	var once sync.Once
	var first error
	slots := make(chan struct{}, sweepWidth)
	for _, d := range due {
		wg.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots; wg.Done() }()
			err := e.writeAndClaim(ctx, d.Workspace, func(tx *store.Tx) error { return apply(tx, d.ID) }, ahead(d.ID))
			if err != nil {
				once.Do(func() { first = err })
			}
		}()
	}
	wg.Wait()
	return first
}

// expireDue expires a question if it is still due.
func (e *Engine) expireDue(tx *store.Tx, id string) error {
	_, _, err := e.loadAndSettleIfDue(tx, id)
	return err
}

// takeBackDue takes a task back from a run whose lease has ended.
func (e *Engine) takeBackDue(tx *store.Tx, id string) error {
	run, err := tx.Run(id)
	if err != nil || run.State != fermata.RunRunning || tx.Now().Before(run.LeaseUntil) {
		return err
	}
	t, err := tx.Task(run.TaskID)
	if err != nil {
		return err
	}
	if t.State != fermata.TaskInProgress || t.RunID != run.ID {
		// The task continued without this run.
		now := tx.Now()
		run.State, run.EndedAt = fermata.RunLost, &now
		tx.SaveRun(run)
		return nil
	}
	return e.handBack(tx, t, run, fermata.RunLost)
}

// wakeDue makes a deferred or blocked task ready if the instant until which it waits has come.
func (e *Engine) wakeDue(tx *store.Tx, id string) error {
	t, err := tx.Task(id)
	if err != nil || t.DeferUntil == nil || tx.Now().Before(*t.DeferUntil) {
		return err
	}
	if t.State == fermata.TaskDeferred {
		return e.makeReady(tx, t, fermata.SystemActor)
	}
	if t.State != fermata.TaskBlocked {
		return nil
	}
	if err := moveTask(tx, t, t.ReadyState(), fermata.SystemActor); err != nil {
		return err
	}
	tx.SaveTask(t)
	return nil
}

// sweepInterval is the time between two sweeps. A late sweep changes no outcome:
// the deadline itself decides.
const sweepInterval = 250 * time.Millisecond

// idempotencyRetention is how long the idempotency keys of requests are kept.
const idempotencyRetention = 48 * time.Hour

// RunSweeps sweeps until ctx ends.
func (e *Engine) RunSweeps(ctx context.Context) {
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	var lastDeletion, lastFlush time.Time
	watch := clockWatch{e: e}
	for {
		n := 0
		trusted, err := watch.checkClock(ctx)
		if trusted {
			n, err = e.Sweep(ctx)
		}
		if err != nil && ctx.Err() == nil {
			e.log.Error("sweep", "error", err)
			Sleep(ctx, rescanInterval)
		}
		if time.Since(lastFlush) > workerFlushInterval {
			lastFlush = time.Now()
			e.recordDueWorkers(ctx)
		}
		if time.Since(lastDeletion) > time.Hour {
			lastDeletion = time.Now()
			e.deleteExpired(ctx)
			e.tail.forgetCounts()
		}
		if err == nil && n >= sweepBatch {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Sleep waits for d, or until ctx ends. After an error, it keeps an unavailable
// database from filling the log.
func Sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// deleteExpired deletes idempotency keys, snoozes and workers of the list whose time has passed.
func (e *Engine) deleteExpired(ctx context.Context) {
	err := e.db.Write(ctx, store.DefaultWorkspace, func(tx *store.Tx) error {
		tx.DeleteReplays(tx.Now().Add(-idempotencyRetention))
		tx.DeleteSnoozes(tx.Now())
		tx.DeleteForgottenWorkers()
		return nil
	})
	if err != nil && ctx.Err() == nil {
		e.log.Error("delete what has expired", "error", err)
	}
}

package engine

import (
	"context"
	"errors"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

const (
	// firstRetention is the time from the start to the first look for what is kept no longer. retentionInterval is the time
	// between two looks.
	firstRetention    = 10 * time.Minute
	retentionInterval = time.Hour
	// retentionBatch is the most tasks, pieces of logs or deliveries of one transaction.
	retentionBatch = 200
	// retentionAttempts is how often a removal is planned again after another write has changed what was to be removed.
	retentionAttempts = 3
)

// errOutdatedPlan means that another write changed what was to be removed.
var errOutdatedPlan = errors.New("another write was faster")

// RunRetention removes what the policy keeps no longer, until ctx ends. It begins some minutes after the start, when a clock
// that jumped has been noticed.
func (e *Engine) RunRetention(ctx context.Context) {
	next := time.NewTimer(firstRetention)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		if err := e.ApplyRetention(ctx); err != nil && ctx.Err() == nil {
			e.log.Error("remove what the policy keeps no longer", "error", err)
		}
		next.Reset(retentionInterval)
	}
}

// ApplyRetention removes what the policies of the workspaces keep no longer. Several replicas may call it at the same time.
// While a jump of the clock is not confirmed, nothing is removed.
func (e *Engine) ApplyRetention(ctx context.Context) error {
	workspaces, err := e.db.Reader(ctx, "").Workspaces()
	if err != nil {
		return err
	}
	var errs []error
	for _, w := range workspaces {
		r := e.db.Reader(ctx, w)
		policy, err := r.Policy()
		if err != nil {
			return err
		}
		now, err := e.db.Now(ctx)
		if err != nil || e.db.Clock().Jump != 0 {
			return err
		}
		t := &retention{ctx: ctx, e: e, r: r, policy: policy, now: now}
		if err := t.checkPolicy(); err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, t.repeat(t.removeTasks), t.repeat(t.removeLogs), t.repeat(t.removeDeliveries))
		if r := t.removed; !r.IsEmpty() {
			e.log.Info("removed what the policy keeps no longer", "workspace", w, "tasks", r.TaskCount(), "events", r.Events, "logs", r.Logs, "messages", r.Deliveries)
		}
	}
	return errors.Join(errs...)
}

// retention removes what one workspace keeps no longer.
type retention struct {
	ctx    context.Context //nolint:containedctx // the value lives as long as the call
	e      *Engine
	r      store.Reader
	policy fermata.Policy
	now    time.Time
	// lastRun is the last run whose log was looked at.
	lastRun string
	// removed is what was removed so far.
	removed fermata.Removal
}

// checkPolicy returns an error if the policy would remove something, and is not the one of the last event about it. A person
// who writes the database cannot make the server remove anything.
func (t *retention) checkPolicy() error {
	if !t.policy.RemovesAnything() {
		return nil
	}
	last, err := newestEvent(t.r, fermata.EventPolicyChanged)
	if err != nil {
		return err
	}
	if problem := policyDifference(t.policy, last); problem != "" {
		return fermata.Internal("remove what the policy keeps no longer", errors.New(problem+": verify the audit"))
	}
	return nil
}

// repeat removes one batch after the other until nothing is left.
func (t *retention) repeat(removeBatch func() (more bool, err error)) error {
	for attempts := 0; ; {
		more, err := removeBatch()
		if errors.Is(err, errOutdatedPlan) && attempts < retentionAttempts {
			attempts++
			continue
		}
		if !more || err != nil {
			return err
		}
		attempts = 0
	}
}

// write removes rows in a transaction, and records what was removed.
func (t *retention) write(remove func(tx *store.Tx) (fermata.Removal, error)) error {
	var removed fermata.Removal
	err := t.e.db.Write(t.ctx, t.r.Workspace(), func(tx *store.Tx) (err error) {
		removed, err = remove(tx)
		if err != nil || removed.IsEmpty() {
			return err
		}
		tx.Append(&fermata.Event{Type: fermata.EventRetentionApplied, Actor: fermata.SystemActor, Data: encodeData(removed)})
		return nil
	})
	if err == nil {
		t.removed = t.removed.Add(removed)
	}
	return err
}

// removeLogs removes the logs of runs that ended long ago.
func (t *retention) removeLogs() (more bool, err error) {
	limit, ok := fermata.KeepLimit(t.policy.KeepLogs, t.now)
	if !ok {
		return false, nil
	}
	found, err := t.r.RunsWithLogs(limit, t.lastRun, retentionBatch)
	if err != nil || len(found) == 0 {
		return false, err
	}
	t.lastRun = found[len(found)-1]
	runs, err := t.r.RunsByID(fermata.SortUnique(found))
	if err != nil {
		return false, err
	}
	var ended []string
	for _, run := range runs {
		if run.EndedAt != nil && run.EndedAt.Before(limit) {
			ended = append(ended, run.ID)
		}
	}
	return true, t.write(func(tx *store.Tx) (fermata.Removal, error) {
		tx.DeleteLogs(ended)
		return fermata.Removal{Logs: int64(len(ended))}, nil
	})
}

// removeDeliveries removes messages that were sent long ago.
func (t *retention) removeDeliveries() (more bool, err error) {
	limit, ok := fermata.KeepLimit(t.policy.KeepDeliveries, t.now)
	if !ok {
		return false, nil
	}
	settled, err := t.r.SettledDeliveries(limit, retentionBatch)
	if err != nil || len(settled) == 0 {
		return false, err
	}
	return true, t.write(func(tx *store.Tx) (fermata.Removal, error) {
		tx.DeleteDeliveries(settled)
		return fermata.Removal{Deliveries: int64(len(settled))}, nil
	})
}

// removeTasks removes tasks that ended long ago, with their events, and trims the chain. It does nothing on a server that
// cannot sign what it trims.
func (t *retention) removeTasks() (more bool, err error) {
	limit, ok := fermata.KeepLimit(t.policy.KeepTasks, t.now)
	if !ok || t.e.opts.Signer == nil {
		return false, nil
	}
	plan, err := t.planTrim(limit)
	if err != nil || plan.isEmpty() {
		return false, err
	}
	return true, t.write(plan.apply)
}

// Retention returns how long the workspace keeps what has ended, and what was removed.
func (e *Engine) Retention(ctx context.Context, c fermata.Caller) (fermata.Retention, error) {
	if err := c.CheckPermission(fermata.ToReadAudit, fermata.InEveryProject); err != nil {
		return fermata.Retention{}, err
	}
	r := e.reader(ctx, c)
	policy, err := e.policy(r)
	if err != nil {
		return fermata.Retention{}, err
	}
	report := fermata.Retention{
		KeepTasks: keepTime(policy.KeepTasks), KeepLogs: keepTime(policy.KeepLogs), KeepDeliveries: keepTime(policy.KeepDeliveries),
	}
	now, err := e.db.Now(ctx)
	if err != nil {
		return report, err
	}
	oldest, err := r.EndedRoots(now, store.EndedPosition{}, 1)
	if err != nil {
		return report, err
	}
	if len(oldest) > 0 {
		report.OldestTask = &oldest[0].UpdatedAt
	}
	last, _, err := r.LastTrimmedRange()
	if err != nil {
		return report, err
	}
	report.TrimmedTo = last.Last
	if report.RemovedEvents, err = r.RemovedEvents(); err != nil {
		return report, err
	}
	return report, addLastRemoval(r, &report)
}

func keepTime(t fermata.Timeout) fermata.Timeout {
	if t == "" {
		return fermata.Never
	}
	return t
}

// addLastRemoval adds to the report what the last look removed that found something: all removals within an interval before
// the last one.
func addLastRemoval(r store.Reader, report *fermata.Retention) error {
	const page = 100
	var before int64
	for {
		events, err := r.Events(store.EventFilter{Types: []string{string(fermata.EventRetentionApplied)}, Before: before, Newest: true, Limit: page})
		if err != nil {
			return err
		}
		for _, e := range events {
			if report.LastRemoval == nil {
				report.LastRemoval, report.LastRemovalAt = &fermata.Removal{}, &e.At
			}
			if report.LastRemovalAt.Sub(e.At) >= retentionInterval {
				return nil
			}
			*report.LastRemoval = report.LastRemoval.Add(removalOf(e))
			before = e.Seq
		}
		if len(events) < page {
			return nil
		}
	}
}

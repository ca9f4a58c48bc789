package delivery

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

const (
	// unclaimedInterval is the time between two checks for tasks that no worker takes.
	unclaimedInterval = time.Minute
	// unclaimedGrace is how long tasks wait without a worker before operators are told.
	unclaimedGrace = 10 * time.Minute
)

// checkUnclaimed alerts the operators when tasks have waited for [unclaimedGrace] because no running worker takes them.
// It raises one alert for each kind of task, and another one after a worker for that kind came and left.
func (w *workspace) checkUnclaimed(ctx context.Context) error {
	now, err := w.s.db.Now(ctx)
	if err != nil {
		return err
	}
	r := w.s.db.Reader(ctx, w.id)
	gaps, err := r.WorkerGaps()
	if err != nil {
		return err
	}
	kinds, err := listUnclaimed(r, now)
	if err != nil || len(kinds) == 0 && len(gaps) == 0 {
		return err
	}
	return w.s.db.Write(ctx, w.id, func(tx *store.Tx) error { return recordGaps(tx, kinds) })
}

// unclaimedKind are tasks of a kind that no running worker takes.
type unclaimedKind struct {
	store.UnclaimedCount
	reason *fermata.NoWorker
}

// listUnclaimed lists the tasks that no running worker takes.
func listUnclaimed(r store.Reader, now time.Time) (kinds []unclaimedKind, err error) {
	waiting, err := r.CountUnclaimed()
	if err != nil || len(waiting) == 0 {
		return nil, err
	}
	workers, err := r.Workers(now)
	if err != nil {
		return nil, err
	}
	for _, u := range waiting {
		if reason := u.Kind.NoWorker(workers); reason != nil {
			kinds = append(kinds, unclaimedKind{u, reason})
		}
	}
	return kinds, nil
}

// recordGaps records the time from which each kind has no worker, and alerts operators to the kinds that have had none
// for [unclaimedGrace]. It reads the gaps again, because another process may have recorded them first.
func recordGaps(tx *store.Tx, kinds []unclaimedKind) error {
	gaps, err := tx.WorkerGaps()
	if err != nil {
		return err
	}
	for _, g := range gaps {
		if !slices.ContainsFunc(kinds, func(u unclaimedKind) bool { return u.Kind == g.Kind }) {
			tx.CloseWorkerGap(g.Kind)
		}
	}
	for _, u := range kinds {
		at := slices.IndexFunc(gaps, func(g store.WorkerGap) bool { return g.Kind == u.Kind })
		switch {
		case at < 0:
			tx.OpenWorkerGap(u.Kind)
		case !gaps[at].Alerted && tx.Now().Sub(gaps[at].Since) >= unclaimedGrace:
			tx.MarkWorkerGapAlerted(u.Kind)
			if err := alertUnclaimed(tx, u); err != nil {
				return err
			}
		}
	}
	return nil
}

// alertUnclaimed asks operators to start a worker.
func alertUnclaimed(tx *store.Tx, u unclaimedKind) error {
	t, err := tx.Task(u.First)
	if err != nil {
		return err
	}
	title, which := "A task waits for a worker", fmt.Sprintf("%s (%s) waits", t.Title, t.ID)
	if u.Tasks > 1 {
		title, which = fmt.Sprintf("%d tasks wait for a worker", u.Tasks), fmt.Sprintf("%s (%s) and %d more wait", t.Title, t.ID, u.Tasks-1)
	}
	tx.Append(&fermata.Event{
		Type: fermata.EventDeliveryAlert, TaskID: t.ID, Actor: fermata.SystemActor,
		Data: mustJSON(alertData{Kind: "worker", Title: title, Body: which + ". " + u.reason.String()}),
	})
	return nil
}

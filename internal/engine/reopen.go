package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// ReopenTask makes an ended or deferred task ready again.
func (e *Engine) ReopenTask(ctx context.Context, c fermata.Caller, id string) (*fermata.Task, error) {
	return e.changeTask(ctx, c, fermata.ToReopenTask, id, func(tx *store.Tx, t *fermata.Task) error { return e.reopenTask(tx, t, c.Actor()) })
}

func (e *Engine) reopenTask(tx *store.Tx, t *fermata.Task, by fermata.Actor) error {
	if err := t.CheckNotPaused(); err != nil {
		return err
	}
	if !t.State.IsEnded() && t.State != fermata.TaskDeferred {
		return fermata.Errorf(fermata.CodeIllegalTransition, "a task that is %s cannot be reopened to %s", t.State, fermata.TaskOpen)
	}
	if err := checkConcurrencyKeyFree(tx, t); err != nil {
		return err
	}
	endWaits(tx, t)
	t.Attempts = 0
	// The next run is handed everything that no run was handed.
	if err := countUnread(tx, t); err != nil {
		return err
	}
	return e.makeReady(tx, t, by)
}

package engine

import (
	"context"

	"github.com/fermata-hq/fermata/internal/store"
)

// CheckReady returns an error with the reason if the database does not answer or takes no writes.
func (e *Engine) CheckReady(ctx context.Context) error {
	if t := e.db.Trouble(); t != nil {
		return t.Refusal()
	}
	if err := e.db.Ping(ctx); err != nil {
		return err
	}
	if t := e.db.Trouble(); t != nil {
		return t.Refusal()
	}
	return nil
}

// Trouble returns the reason why the database takes no writes, or nil if it does.
func (e *Engine) Trouble() *store.Trouble { return e.db.Trouble() }

// RunHealth checks the database until ctx ends. It logs a problem at once, and then once a minute while the problem
// lasts.
func (e *Engine) RunHealth(ctx context.Context) { e.db.Watch(ctx, e.logTrouble) }

func (e *Engine) logTrouble(t *store.Trouble) {
	switch {
	case t == nil:
		e.log.Info("the database takes writes again")
	case t.Malformed:
		e.log.Error("ALARM: the database is malformed, and nothing is written any more", "reason", t.Reason, "since", t.Since, "hint", t.Hint, "error", t.Cause())
	case t.Stopped:
		e.log.Error("nothing is written any more until the server is started again", "reason", t.Reason, "since", t.Since, "hint", t.Hint, "error", t.Cause())
	default:
		e.log.Error("the database takes no writes", "reason", t.Reason, "since", t.Since, "hint", t.Hint, "error", t.Cause())
	}
}

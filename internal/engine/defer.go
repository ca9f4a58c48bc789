package engine

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// DeferTask defers a task until an instant. If until is nil, it defers the task until a person continues it.
func (e *Engine) DeferTask(ctx context.Context, c fermata.Caller, id string, until *time.Time) (*fermata.Task, error) {
	if until != nil {
		if err := fermata.CheckInstant("until", *until); err != nil {
			return nil, err
		}
	}
	return e.changeTask(ctx, c, fermata.ToChangeTask, id, func(tx *store.Tx, t *fermata.Task) error {
		if err := t.CheckNotPaused(); err != nil {
			return err
		}
		if c.Kind == fermata.ActorAgent && t.Runner == fermata.RunnerWorkflow {
			return fermata.Errorf(fermata.CodeForbidden, "only a person may put off a workflow run").WithHint("use a step of the workflow that waits")
		}
		if until != nil && !until.After(tx.Now()) {
			return fermata.Invalid(fermata.Problem{Field: "until", Message: "must be in the future"})
		}
		if t.State == fermata.TaskInProgress || t.State.IsSuspended() {
			// Only its own run may defer a running task, and a suspended task waits already.
			return fermata.Errorf(fermata.CodeIllegalTransition, "a task that is %s cannot become %s", t.State, fermata.TaskDeferred)
		}
		if err := moveTask(tx, t, fermata.TaskDeferred, c.Actor()); err != nil {
			return err
		}
		t.DeferUntil = nil
		if until != nil {
			cut := fermata.TruncateTime(*until)
			t.DeferUntil = &cut
		}
		tx.SaveTask(t)
		return nil
	})
}

package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// CancelTask ends a task and everything below it. Pending questions are
// withdrawn, runs are told to stop at their next contact, nothing resumes.
func (e *Engine) CancelTask(ctx context.Context, c fermata.Caller, id, reason string) (*fermata.Task, error) {
	return e.change(ctx, c, id, func(tx *store.Tx, t *fermata.Task) error {
		if t.State == fermata.TaskCancelled {
			return nil
		}
		if t.State.Ended() {
			return t.Move(fermata.TaskCancelled)
		}
		return e.cancelTree(tx, t, reason, c.Actor())
	})
}

func (e *Engine) cancelTree(tx *store.Tx, t *fermata.Task, reason string, by fermata.Actor) error {
	children, err := tx.Children(t.ID)
	if err != nil {
		return err
	}
	for _, child := range children {
		if err := e.cancelTree(tx, child, reason, by); err != nil {
			return err
		}
	}
	// A child's end may have moved the task itself: read it again.
	if len(children) > 0 {
		fresh, err := tx.Task(t.ID)
		if err != nil {
			return err
		}
		*t = *fresh
	}
	if t.State.Ended() {
		// Only what is below it went on.
		return nil
	}
	if err := stopRun(tx, t, "stopped: the task was cancelled", by); err != nil {
		return err
	}
	return e.end(tx, t, fermata.TaskCancelled, reason, by)
}

// stopRun ends the run of a task that is taken from it. The worker learns it
// with its next call, which is refused.
func stopRun(tx *store.Tx, t *fermata.Task, why string, by fermata.Actor) error {
	if t.State != fermata.TaskInProgress || t.RunID == "" {
		return nil
	}
	run, err := tx.Run(t.RunID)
	if err != nil || run.State != fermata.RunRunning {
		return err
	}
	now := tx.Now()
	run.State, run.EndedAt, run.Summary = fermata.RunFinished, &now, why
	tx.SaveRun(run)
	tx.Append(&fermata.Event{
		Type: fermata.EventRunFinished, TaskID: t.ID, RunID: run.ID, Actor: by, Data: data(finished{Summary: run.Summary}),
	})
	return nil
}

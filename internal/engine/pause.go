package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// PauseTask stops a task until a person resumes it. Its run ends. Its session
// and working copy stay, so that the person can take them over. Messages and
// answers wait until then.
func (e *Engine) PauseTask(ctx context.Context, c fermata.Caller, id string) (*fermata.Task, error) {
	return e.changeTask(ctx, c, fermata.ToPauseTask, id, func(tx *store.Tx, t *fermata.Task) error {
		if t.IsPaused() {
			return nil
		}
		if err := t.CheckPause(); err != nil {
			return err
		}
		if err := stopRun(tx, t, "the task was paused by "+c.Actor().DisplayName(), c.Actor()); err != nil {
			return err
		}
		t.Reason, t.DeferUntil = fermata.ReasonPaused, nil
		if err := moveTask(tx, t, fermata.TaskDeferred, c.Actor()); err != nil {
			return err
		}
		tx.SaveTask(t)
		return nil
	})
}

// unpauseTask resumes a paused task with the person's words. If a question of the
// task is still open and there is nothing to hand over, the task waits for that
// question again.
func (e *Engine) unpauseTask(tx *store.Tx, t *fermata.Task, words string, c fermata.Caller) error {
	if err := e.addWords(tx, t, words, c.Actor()); err != nil {
		return err
	}
	if t.PendingQuestionID == "" || t.Unread > 0 {
		return e.makeReady(tx, t, c.Actor())
	}
	return e.moveAfterRun(tx, t, nil, c.Actor())
}

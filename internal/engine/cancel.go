package engine

import (
	"context"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// CancelTask ends a task and everything below it. Pending questions are
// withdrawn, runs are told to stop at their next contact, nothing resumes. The
// reason stays in the threads, for whoever reopens one of the tasks.
func (e *Engine) CancelTask(ctx context.Context, c fermata.Caller, id, reason string) (*fermata.Task, error) {
	reason = strings.TrimSpace(reason)
	return e.change(ctx, c, fermata.ToCancelTask, id, func(tx *store.Tx, t *fermata.Task) error {
		if t.State == fermata.TaskCancelled {
			return t.CancelAgain(reason)
		}
		if t.State.IsEnded() {
			return t.Move(fermata.TaskCancelled)
		}
		return e.cancelTree(tx, t, reason, c.Actor())
	})
}

func (e *Engine) cancelTree(tx *store.Tx, t *fermata.Task, reason string, by fermata.Actor) error {
	if by.Kind == fermata.ActorAgent {
		// A person has taken it over: no agent ends that.
		if err := t.CheckPaused(); err != nil {
			return err
		}
	}
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
	if t.State.IsEnded() {
		// Only what is below it went on.
		return nil
	}
	if err := stopRun(tx, t, "the task was cancelled by "+by.DisplayName(), by); err != nil {
		return err
	}
	if err := e.end(tx, t, fermata.TaskCancelled, reason, by); err != nil || by.Kind == fermata.ActorSystem {
		return err
	}
	if reason == "" {
		return nil
	}
	return e.post(tx, t, &fermata.Message{TaskID: t.ID, Kind: fermata.MessagePlain, Cancels: true, Author: by, Body: reason})
}

// stopRun ends the run of a task that is taken from it, and marks where it left
// its work. Its worker hears of it at once, and every call of it is refused. What the
// run was handed is handed to the next one again: nobody knows how much of it the
// agent has read. The caller saves the task.
func stopRun(tx *store.Tx, t *fermata.Task, why string, by fermata.Actor) error {
	if t.State != fermata.TaskInProgress || t.RunID == "" {
		return nil
	}
	run, err := tx.Run(t.RunID)
	if err != nil || run.State != fermata.RunRunning {
		return err
	}
	now := tx.Now()
	logged := run.Stop(t, why)
	run.EndedAt = &now
	tx.SaveRun(run)
	size, err := tx.LogSize(run.ID)
	if err != nil {
		return err
	}
	tx.AppendLog(run.ID, size, logged)
	tx.Append(&fermata.Event{
		Type: fermata.EventRunFinished, TaskID: t.ID, RunID: run.ID, Actor: by, Data: data(finished{Summary: run.Summary}),
	})
	tx.TakeBack(t.ID, run.ID)
	return countUnread(tx, t)
}

package engine

import (
	"context"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// CancelTask ends a task and everything below it. Pending questions are
// withdrawn, runs are told to stop at their next contact, and nothing resumes.
// The reason stays in the threads for a person who reopens one of the tasks.
func (e *Engine) CancelTask(ctx context.Context, c fermata.Caller, id, reason string) (*fermata.Task, error) {
	reason = strings.TrimSpace(reason)
	return e.changeTask(ctx, c, fermata.ToCancelTask, id, func(tx *store.Tx, t *fermata.Task) error {
		if t.State == fermata.TaskCancelled {
			return t.CheckCancelAgain(reason)
		}
		if t.State.IsEnded() {
			return t.Move(fermata.TaskCancelled)
		}
		return e.cancelTree(tx, t, reason, c.Actor())
	})
}

func (e *Engine) cancelTree(tx *store.Tx, t *fermata.Task, reason string, by fermata.Actor) error {
	if by.Kind == fermata.ActorAgent {
		// A person has taken the task over, so no agent may end it.
		if err := t.CheckNotPaused(); err != nil {
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
	// The end of a child may have moved the task itself, so read it again.
	if len(children) > 0 {
		fresh, err := tx.Task(t.ID)
		if err != nil {
			return err
		}
		*t = *fresh
	}
	if t.State.IsEnded() {
		// The task had ended before. Only tasks below it were still open.
		return nil
	}
	if err := stopRun(tx, t, "the task was cancelled by "+by.DisplayName(), by); err != nil {
		return err
	}
	if err := e.endTask(tx, t, fermata.TaskCancelled, reason, by); err != nil || by.Kind == fermata.ActorSystem {
		return err
	}
	if reason == "" {
		return nil
	}
	return e.storeMessage(tx, t, &fermata.Message{TaskID: t.ID, Kind: fermata.MessagePlain, Cancels: true, Author: by, Body: reason})
}

// stopRun ends the run of a task and takes the task from it. It logs the reason, and where the run left its uncommitted
// work. The worker learns of the stop at once, and every later call for the run is refused. Everything that the run was
// handed will be handed to the next run again, because nobody knows how much of it the agent has read. The caller saves
// the task.
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
		Type: fermata.EventRunFinished, TaskID: t.ID, RunID: run.ID, Actor: by, Data: encodeData(finishedData{Summary: run.Summary}),
	})
	tx.TakeBackHandOver(t.ID, run.ID)
	return countUnread(tx, t)
}

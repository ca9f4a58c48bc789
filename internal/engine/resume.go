package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// ResumeTask makes a suspended, blocked or deferred task continue without what it waits for. A question that the task
// waits for closes without an answer: the agent is told that nobody will answer, and decides for itself. The words
// are those of the person who resumes the task. If no question takes them, they become a message.
func (e *Engine) ResumeTask(ctx context.Context, c fermata.Caller, id, words string) (*fermata.Task, error) {
	if words != "" {
		if err := fermata.CheckMessage(words); err != nil {
			return nil, err
		}
	}
	return e.changeTask(ctx, c, fermata.ToResumeTask, id, func(tx *store.Tx, t *fermata.Task) error {
		switch {
		case t.IsPaused():
			return e.unpauseTask(tx, t, words, c)
		case t.IsAsking():
			return e.letAgentDecide(tx, t, words, c)
		case t.State == fermata.TaskInputReceived:
			return e.addWords(tx, t, words, c.Actor())
		case !t.IsResumable():
			return t.CannotResumeError()
		}
		if err := checkNotQueued(tx, t); err != nil {
			return err
		}
		endWaits(tx, t)
		if err := e.addWords(tx, t, words, c.Actor()); err != nil {
			return err
		}
		if err := moveTask(tx, t, t.ReadyState(), c.Actor()); err != nil {
			return err
		}
		tx.SaveTask(t)
		return nil
	})
}

// addWords posts the words of the person who resumes a task in its thread.
func (e *Engine) addWords(tx *store.Tx, t *fermata.Task, words string, by fermata.Actor) error {
	if words == "" {
		return nil
	}
	return e.storeMessage(tx, t, &fermata.Message{TaskID: t.ID, Kind: fermata.MessagePlain, Author: by, Body: words})
}

// ResumeContext returns the context that the next run of a task would be
// handed. For a running task, it returns the context that the present run was
// handed.
func (e *Engine) ResumeContext(ctx context.Context, c fermata.Caller, id string) (*fermata.ResumeContext, error) {
	t, err := e.Task(ctx, c, id)
	if err != nil {
		return nil, err
	}
	current := ""
	if t.State == fermata.TaskInProgress {
		current = t.RunID
	}
	if t.Runner == fermata.RunnerExternal {
		current = fermata.DeskRunID
	}
	r := e.reader(ctx, c)
	questions, err := r.UnhandedQuestions(t.ID, current)
	if err != nil {
		return nil, err
	}
	messages, err := r.UnhandedMessages(t.ID, current)
	if err != nil {
		return nil, err
	}
	last, err := lastRun(r, t)
	if err != nil {
		return nil, err
	}
	rc := fermata.NewResumeContext(t, last, questions, messages, t.PendingQuestion)
	if handed, err := mayReadGrants(r, c, t); err != nil || !handed {
		return rc, err
	}
	return rc, addGrants(rc, questions, r, func() ([]byte, error) { return e.grantKey(ctx, c) })
}

// lastRun returns the newest run of the task, or nil if the task had none.
func lastRun(r store.Reader, t *fermata.Task) (*fermata.LastRun, error) {
	if t.RunID == "" {
		return nil, nil
	}
	run, err := r.Run(t.RunID)
	return run.LastRun(), err
}

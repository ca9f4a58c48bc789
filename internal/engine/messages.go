package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// PostMessage adds a line to a task's thread. A person's message interrupts:
// a suspended or open task becomes input_received, a running one is told at
// its next contact. A pending question stays open.
func (e *Engine) PostMessage(ctx context.Context, c fermata.Caller, taskID, body string) (*fermata.Message, error) {
	if err := require(c, fermata.ScopeAsk, fermata.ScopeWork, fermata.ScopeAnswer); err != nil {
		return nil, err
	}
	if err := fermata.CheckMessage(body); err != nil {
		return nil, err
	}
	taskID, err := e.taskID(ctx, c, taskID)
	if err != nil {
		return nil, err
	}
	return write(ctx, e, c, func(tx *store.Tx) (*fermata.Message, error) {
		t, err := tx.Task(taskID)
		if err == nil {
			err = mayWrite(c, t.Project)
		}
		if err == nil {
			err = e.timeDecidesFirst(tx, t)
		}
		if err != nil {
			return nil, err
		}
		m := &fermata.Message{TaskID: t.ID, Kind: fermata.MessagePlain, Author: c.Actor(), Body: body}
		return m, e.post(tx, t, m)
	}, store.Ahead{Task: taskID})
}

// post writes a message and, when a person wrote it, moves the task.
func (e *Engine) post(tx *store.Tx, t *fermata.Task, m *fermata.Message) error {
	m.ID, m.CreatedAt = fermata.NewID(fermata.PrefixMessage, tx.Now()), tx.Now()
	person := m.Author.Kind == fermata.ActorHuman
	if !person {
		m.HandedTo = m.Author.ID
	}
	tx.InsertMessage(m)
	tx.Append(&fermata.Event{
		Type: fermata.EventMessagePosted, TaskID: t.ID, QuestionID: m.QuestionID, Actor: m.Author,
		Data: data(map[string]string{"message_id": m.ID, "kind": string(m.Kind)}),
	})
	if !person {
		return nil
	}
	if !t.State.Ended() {
		t.Unread++
	}
	if to, moves := t.Interrupt(); moves {
		if err := move(tx, t, to, m.Author); err != nil {
			return err
		}
	}
	tx.SaveTask(t)
	return nil
}

// tell adds a line of the system that the next run is handed.
func (e *Engine) tell(tx *store.Tx, t *fermata.Task, body string) {
	m := &fermata.Message{
		ID: fermata.NewID(fermata.PrefixMessage, tx.Now()), TaskID: t.ID, Kind: fermata.MessagePlain,
		Author: fermata.System, Body: body, CreatedAt: tx.Now(),
	}
	tx.InsertMessage(m)
	tx.Append(&fermata.Event{
		Type: fermata.EventMessagePosted, TaskID: t.ID, Actor: fermata.System,
		Data: data(map[string]string{"message_id": m.ID, "kind": string(m.Kind)}),
	})
	t.Unread++
}

// Messages lists a task's thread, oldest first.
func (e *Engine) Messages(ctx context.Context, c fermata.Caller, taskID, given string, limit int) ([]*fermata.Message, string, error) {
	t, err := e.Task(ctx, c, taskID)
	if err != nil {
		return nil, "", err
	}
	after := ""
	list := cursorOf("messages", given, t.ID)
	if err := list.read(&after); err != nil {
		return nil, "", err
	}
	all, err := e.reads(ctx, c).Messages(t.ID, after, pageSize(limit)+1)
	if err != nil {
		return nil, "", err
	}
	all, more := page(all, limit)
	if !more {
		return all, "", nil
	}
	return all, list.write(all[len(all)-1].ID), nil
}

// Progress reports an update of a task that asks for nothing.
func (e *Engine) Progress(ctx context.Context, c fermata.Caller, taskID string, p fermata.Progress) error {
	if err := require(c, fermata.ScopeAsk, fermata.ScopeWork); err != nil {
		return err
	}
	if err := p.Check(); err != nil {
		return err
	}
	taskID, err := e.taskID(ctx, c, taskID)
	if err != nil {
		return err
	}
	_, err = write(ctx, e, c, func(tx *store.Tx) (struct{}, error) {
		t, err := tx.Task(taskID)
		if err == nil {
			err = mayWrite(c, t.Project)
		}
		if err != nil {
			return struct{}{}, err
		}
		if t.State.Ended() {
			return struct{}{}, fermata.Errorf(fermata.CodeIllegalTransition, "a task that is %s makes no progress", t.State)
		}
		reported(tx, t.ID, "", p, c.Actor())
		return struct{}{}, nil
	}, store.Ahead{Task: taskID})
	return err
}

func reported(tx *store.Tx, taskID, runID string, p fermata.Progress, by fermata.Actor) {
	p.Token = 0
	tx.Append(&fermata.Event{Type: fermata.EventProgressReported, TaskID: taskID, RunID: runID, Actor: by, Data: data(p)})
}

package engine

import (
	"context"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// PostMessage adds a message to a task's thread. A person's message interrupts
// the task: a suspended or open task becomes input_received, and a running one
// gets the message at its next contact. A pending question stays open.
func (e *Engine) PostMessage(ctx context.Context, c fermata.Caller, taskID, body string) (*fermata.Message, error) {
	if err := c.CheckPermission(fermata.ToWriteToTask, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	if err := fermata.CheckMessage(body); err != nil {
		return nil, err
	}
	taskID, err := e.taskID(ctx, c, taskID)
	if err != nil {
		return nil, err
	}
	return write(ctx, e, c, fermata.ToWriteToTask, func(tx *store.Tx) (*fermata.Message, error) {
		t, err := tx.Task(taskID)
		if err == nil {
			err = checkTaskPermission(tx, c, fermata.ToWriteToTask, t)
		}
		if err == nil {
			err = e.settlePendingIfDue(tx, t)
		}
		if err != nil {
			return nil, err
		}
		m := &fermata.Message{TaskID: t.ID, Kind: fermata.MessagePlain, Author: c.Actor(), Body: body}
		return m, e.storeMessage(tx, t, m)
	}, store.ReadAhead{Task: taskID})
}

// HandMessages records that the agent of an external task was handed messages of its thread. Messages that were
// handed before stay unchanged.
func (e *Engine) HandMessages(ctx context.Context, c fermata.Caller, taskID string, ids []string) error {
	if err := c.CheckPermission(fermata.ToHandMessages, fermata.UnloadedResource); err != nil {
		return err
	}
	taskID, err := e.taskID(ctx, c, taskID)
	if err != nil {
		return err
	}
	_, err = write(ctx, e, c, fermata.ToHandMessages, func(tx *store.Tx) (*fermata.Task, error) {
		t, err := tx.Task(taskID)
		if err == nil {
			err = checkTaskPermission(tx, c, fermata.ToHandMessages, t)
		}
		if err != nil {
			return nil, err
		}
		if t.Runner != fermata.RunnerExternal || c.Kind == fermata.ActorAgent && !isOwnSession(c, t) {
			return nil, fermata.Errorf(fermata.CodeForbidden, "the messages of task %s are for another agent", t.ID)
		}
		return t, markMessagesHanded(tx, t, ids, c.Actor())
	}, store.ReadAhead{Task: taskID})
	return err
}

// markMessagesHanded marks the unread messages with these ids as handed to the agent of an external task.
func markMessagesHanded(tx *store.Tx, t *fermata.Task, ids []string, by fermata.Actor) error {
	waiting, err := tx.UnhandedMessages(t.ID, "")
	if err != nil {
		return err
	}
	var handed []string
	for _, m := range waiting {
		if slices.Contains(ids, m.ID) {
			handed = append(handed, m.ID)
		}
	}
	if len(handed) == 0 {
		return nil
	}
	tx.HandOverByID(t.ID, fermata.DeskRunID, handed)
	t.Unread = max(0, t.Unread-len(handed))
	tx.SaveTask(t)
	tx.Append(&fermata.Event{
		Type: fermata.EventMessageHanded, TaskID: t.ID, Actor: by, Data: encodeData(map[string][]string{"message_ids": handed}),
	})
	return nil
}

// storeMessage stores a message. If a person wrote it, it also moves the task.
func (e *Engine) storeMessage(tx *store.Tx, t *fermata.Task, m *fermata.Message) error {
	m.ID, m.CreatedAt = fermata.NewID(fermata.PrefixMessage, tx.Now()), tx.Now()
	forRuns := m.IsForAgents() && t.ReadsMessages()
	tx.InsertMessage(m, forRuns)
	tx.Append(&fermata.Event{
		Type: fermata.EventMessagePosted, TaskID: t.ID, QuestionID: m.QuestionID, Actor: m.Author,
		Data: encodeData(messageFacts(m)),
	})
	defer func() { m.Handoff = t.HandoffStateOf(m) }()
	if !forRuns {
		return nil
	}
	if !t.State.IsEnded() {
		t.Unread++
	}
	if to, moves := t.StateAfterMessage(); moves {
		if err := moveTask(tx, t, to, m.Author); err != nil {
			return err
		}
	}
	tx.SaveTask(t)
	return nil
}

// messageFacts returns the data of the event message.posted.
func messageFacts(m *fermata.Message) map[string]string {
	return map[string]string{"message_id": m.ID, "kind": string(m.Kind), "content_hash": m.ContentHash()}
}

// Messages lists a task's thread, the oldest message first. It also returns the cursor of the next page.
func (e *Engine) Messages(ctx context.Context, c fermata.Caller, taskID, cursorText string, limit int) ([]*fermata.Message, string, error) {
	t, err := e.Task(ctx, c, taskID)
	if err != nil {
		return nil, "", err
	}
	after := ""
	list := cursorOf("messages", cursorText, t.ID)
	if err := list.read(&after); err != nil {
		return nil, "", err
	}
	all, err := e.reader(ctx, c).Messages(t.ID, after, pageSize(limit)+1)
	if err != nil {
		return nil, "", err
	}
	for _, m := range all {
		m.Handoff = t.HandoffStateOf(m)
	}
	all, more := trimPage(all, limit)
	if !more {
		return all, "", nil
	}
	return all, list.write(all[len(all)-1].ID), nil
}

// ReportProgress records a progress update of a task. No person is asked.
func (e *Engine) ReportProgress(ctx context.Context, c fermata.Caller, taskID string, p fermata.Progress) error {
	if err := c.CheckPermission(fermata.ToReportProgress, fermata.UnloadedResource); err != nil {
		return err
	}
	if err := p.Check(); err != nil {
		return err
	}
	taskID, err := e.taskID(ctx, c, taskID)
	if err != nil {
		return err
	}
	_, err = write(ctx, e, c, fermata.ToReportProgress, func(tx *store.Tx) (struct{}, error) {
		t, err := tx.Task(taskID)
		if err == nil {
			err = checkTaskPermission(tx, c, fermata.ToReportProgress, t)
		}
		if err != nil {
			return struct{}{}, err
		}
		if t.State.IsEnded() {
			return struct{}{}, fermata.Errorf(fermata.CodeIllegalTransition, "a task that is %s makes no progress", t.State)
		}
		appendProgress(tx, t.ID, "", p, c.Actor())
		return struct{}{}, nil
	}, store.ReadAhead{Task: taskID})
	return err
}

func appendProgress(tx *store.Tx, taskID, runID string, p fermata.Progress, by fermata.Actor) {
	p.Token = 0
	tx.Append(&fermata.Event{Type: fermata.EventProgressReported, TaskID: taskID, RunID: runID, Actor: by, Data: encodeData(p)})
}

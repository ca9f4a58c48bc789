package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// Comment adds a comment about a question to the thread. It decides nothing and
// does not resume the task.
func (e *Engine) Comment(ctx context.Context, c fermata.Caller, id, body string) (*fermata.Message, error) {
	if err := fermata.CheckMessage(body); err != nil {
		return nil, err
	}
	id, err := e.questionID(ctx, c, id)
	if err != nil {
		return nil, err
	}
	return write(ctx, e, c, fermata.ToComment, func(tx *store.Tx) (*fermata.Message, error) {
		q, err := tx.Question(id)
		if err != nil {
			return nil, err
		}
		if err := q.CheckMayComment(c); err != nil {
			return nil, err
		}
		return addComment(tx, q, c.Actor(), body), nil
	}, store.ReadAhead{Question: id})
}

// addComment stores a comment. The comment counts as handed over, so no run gets
// it.
func addComment(tx *store.Tx, q *fermata.Question, by fermata.Actor, body string) *fermata.Message {
	m := &fermata.Message{
		ID: fermata.NewID(fermata.PrefixMessage, tx.Now()), TaskID: q.TaskID, QuestionID: q.ID, Kind: fermata.MessageComment,
		Author: by, Body: body, CreatedAt: tx.Now(),
	}
	tx.InsertMessage(m, m.IsForAgents())
	tx.Append(&fermata.Event{
		Type: fermata.EventMessagePosted, TaskID: q.TaskID, QuestionID: q.ID, Actor: m.Author,
		Data: encodeData(messageFacts(m)),
	})
	return m
}

package engine

import (
	"context"
	"crypto/rand"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// Undo takes back an answer that is still held. Only the author of the answer may do this.
func (e *Engine) Undo(ctx context.Context, c fermata.Caller, id string) (*fermata.Question, error) {
	return e.changeQuestion(ctx, c, fermata.ToAnswer, id, func(tx *store.Tx, _ *fermata.Task, q *fermata.Question) error {
		if err := q.Undo(c); err != nil {
			return err
		}
		tx.UpdatePending(q)
		tx.Append(&fermata.Event{Type: fermata.EventQuestionUndone, TaskID: q.TaskID, QuestionID: q.ID, Actor: c.Actor()})
		return nil
	})
}

// holdAnswer stores an answer until it is released. The event does not contain the
// answer, because agents read events.
func holdAnswer(tx *store.Tx, q *fermata.Question) {
	q.HeldAnswer.Salt = rand.Text()
	tx.HoldAnswer(q)
	tx.Append(&fermata.Event{
		Type: fermata.EventQuestionHeld, TaskID: q.TaskID, QuestionID: q.ID, Actor: q.HeldAnswer.By,
		Data: encodeData(map[string]any{"release_at": q.HeldAnswer.ReleaseAt, "content_hash": q.HeldAnswer.ContentHash()}),
	})
}

// releaseAnswer settles a question with its held answer, in the same way as any other
// answer.
func (e *Engine) releaseAnswer(tx *store.Tx, t *fermata.Task, q *fermata.Question) error {
	by := q.HeldAnswer.By
	q.Release()
	return e.settle(tx, t, q, by)
}

// releaseDueAnswer releases a held answer if it is still due.
func (e *Engine) releaseDueAnswer(tx *store.Tx, id string) error {
	tx.DeleteDueRelease(id)
	_, _, err := e.loadAndSettleIfDue(tx, id)
	return err
}

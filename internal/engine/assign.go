package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// Assign gives a question to other people, with a note for them.
func (e *Engine) Assign(ctx context.Context, c fermata.Caller, id string, a fermata.Assignment) (*fermata.Question, error) {
	return e.changeQuestion(ctx, c, fermata.ToAssign, id, func(tx *store.Tx, t *fermata.Task, q *fermata.Question) error {
		members, err := tx.Members()
		if err != nil {
			return err
		}
		before := q.Assignees
		if err := q.Assign(a, c, derefAll(members)); err != nil {
			return err
		}
		tx.UpdatePending(q)
		tx.Append(&fermata.Event{
			Type: fermata.EventQuestionAssigned, TaskID: t.ID, QuestionID: q.ID, Actor: c.Actor(),
			Data: encodeData(map[string]any{"assignees": q.Assignees, "before": before, "note": a.Note}),
		})
		if a.Note != "" {
			addComment(tx, q, c.Actor(), a.Note)
		}
		return nil
	})
}

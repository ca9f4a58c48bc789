package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// Snooze hides a question for the caller alone, or shows it again. No other
// person is notified.
func (e *Engine) Snooze(ctx context.Context, c fermata.Caller, id string, s fermata.Snooze) (*fermata.Question, error) {
	if err := c.CheckPermission(fermata.ToChangeOwn, c.OwnResource()); err != nil {
		return nil, err
	}
	q, err := e.changeQuestion(ctx, c, fermata.ToChangeOwn, id, func(tx *store.Tx, _ *fermata.Task, q *fermata.Question) error {
		until, err := s.End(q, tx.Now())
		switch {
		case err != nil:
			return err
		case until == nil:
			tx.EndSnooze(c.MemberID, q.ID)
		default:
			tx.Snooze(c.MemberID, q.ID, *until)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return q, fillQuestions(e.reader(ctx, c), c, []*fermata.Question{q})
}

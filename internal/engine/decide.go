//go:build !bug_resume_keeps_question

package engine

import (
	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// letAgentDecide closes the question that a resumed task waits for, so that the agent decides for itself. The task
// moves as at every other end of a question. A workflow run continues with the default, as if a person had answered
// it.
func (e *Engine) letAgentDecide(tx *store.Tx, t *fermata.Task, words string, c fermata.Caller) error {
	q, err := tx.Question(t.PendingQuestionID)
	if err != nil {
		return err
	}
	run, err := askingRun(tx, t)
	if err != nil {
		return err
	}
	if run != nil {
		if err := q.CheckMayTakeDefault(c); err != nil {
			return err
		}
	}
	if err := q.LetAskerDecide(c.Actor(), words, tx.Now()); err != nil {
		return err
	}
	return e.settle(tx, t, q, c.Actor())
}

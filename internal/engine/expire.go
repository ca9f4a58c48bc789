package engine

import (
	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// expireQuestion applies the deadline of a question that is due: it closes or escalates the question.
func (e *Engine) expireQuestion(tx *store.Tx, t *fermata.Task, q *fermata.Question) error {
	notDue, err := restoreDeadline(tx, q)
	if err != nil || notDue {
		return err
	}
	if q.Expire(tx.Now()) == fermata.ExpiredClosed {
		return e.settle(tx, t, q, fermata.TimeoutActor)
	}
	tx.UpdatePending(q)
	tx.Append(&fermata.Event{
		Type: fermata.EventQuestionEscalated, TaskID: t.ID, QuestionID: q.ID, Actor: fermata.TimeoutActor,
		Data: encodeData(map[string]any{"level": q.EscalationLevel, "assignees": q.Assignees, "deadline": q.Deadline}),
	})
	return nil
}

// restoreDeadline restores a deadline that was changed directly in the database. notDue reports whether it did and the
// question is not due by the restored deadline.
func restoreDeadline(tx *store.Tx, q *fermata.Question) (notDue bool, err error) {
	record, err := recordOf(tx, q)
	if err != nil || !record.knowsDeadline || isSameTime(record.deadline, q.Deadline) {
		return false, err
	}
	q.Deadline = record.deadline
	if q.IsOverdue(tx.Now()) {
		return false, nil
	}
	tx.UpdatePending(q)
	addComment(tx, q, fermata.SystemActor, "The deadline of this question was moved in the database, past the server. It was put back. Look at who writes the database: `fermata audit verify`.")
	return true, nil
}

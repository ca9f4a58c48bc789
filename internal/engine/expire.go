package engine

import (
	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// expire applies the deadline to a question that is due.
func (e *Engine) expire(tx *store.Tx, t *fermata.Task, q *fermata.Question) error {
	moved, err := restoreDeadline(tx, q)
	if err != nil || moved {
		return err
	}
	if q.Expire(tx.Now()) == fermata.ExpiredClosed {
		return e.settle(tx, t, q, fermata.ByTimeout)
	}
	tx.UpdatePending(q)
	tx.Append(&fermata.Event{
		Type: fermata.EventQuestionEscalated, TaskID: t.ID, QuestionID: q.ID, Actor: fermata.ByTimeout,
		Data: data(map[string]any{"level": q.EscalationLevel, "assignees": q.Assignees, "deadline": q.Deadline}),
	})
	return nil
}

// restoreDeadline puts a deadline back that was moved in the database. It reports whether the question is not due.
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
	comment(tx, q, fermata.System, "The deadline of this question was moved in the database, past the server. It was put back. Look at who writes the database: `fermata audit verify`.")
	return true, nil
}

// makeReady moves a task that nothing holds back any more, or blocks it if its
// dependencies do.
func (e *Engine) makeReady(tx *store.Tx, t *fermata.Task, by fermata.Actor) error {
	to := t.ReadyState()
	if t.State != fermata.TaskBlocked && t.Runner != fermata.RunnerExternal && len(t.BlockedBy) > 0 {
		waits, err := e.isBlocked(tx, t, nil)
		if err != nil {
			return err
		}
		if waits && t.State.IsEnded() {
			// It is ready again before it waits again.
			if err := move(tx, t, to, by); err != nil {
				return err
			}
		}
		if waits {
			to = fermata.TaskBlocked
		}
	}
	if err := move(tx, t, to, by); err != nil {
		return err
	}
	tx.SaveTask(t)
	return nil
}

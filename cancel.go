package fermata

import (
	"strings"
	"time"
)

// Cancel withdraws a pending question, and reports whether this call did so. It
// accepts a question that is cancelled already, unless the reason differs,
// because that reason would be lost. Any other resolution is a conflict.
func (q *Question) Cancel(by Actor, reason string, now time.Time) (bool, error) {
	reason = strings.TrimSpace(reason)
	switch q.Status {
	case Cancelled:
		if reason == "" || reason == q.Resolution.Comment {
			return false, nil
		}
		e := Errorf(CodeQuestionClosed, "the question was cancelled before, and your reason came too late to be kept with it")
		e.Question = q
		return false, e.WithHint("write it into the thread of the task: fermata message %s TEXT", q.TaskID)
	case Pending:
		q.close(Resolution{Status: Cancelled, DecidedBy: by.Kind, AnsweredBy: actorOrNil(by), At: now, Comment: reason})
		return true, nil
	default:
		return false, q.ClosedError()
	}
}

// CloseWithTask closes a pending question because its task ended. The resolution names the actor by, who ended the
// task. If the task was cancelled, the question counts as withdrawn.
func (q *Question) CloseWithTask(by Actor, endState TaskState, reason string, now time.Time) error {
	if _, err := q.Cancel(by, reason, now); err != nil {
		return err
	}
	if endState != TaskCancelled {
		q.Resolution.TaskEnded = endState
	}
	return nil
}

// LetAskerDecide closes a pending question without an answer, because its task
// was resumed. Fermata tells the asker to decide. The argument message is the
// text of the person who resumed the task.
func (q *Question) LetAskerDecide(by Actor, message string, now time.Time) error {
	if q.Status != Pending {
		return q.ClosedError()
	}
	q.close(Resolution{Status: Cancelled, DecidedBy: by.Kind, AnsweredBy: actorOrNil(by), At: now, Comment: message, DecideYourself: true})
	return nil
}

// actorOrNil returns nil for an actor without an id and a name.
func actorOrNil(by Actor) *Actor {
	if by.ID == "" && by.Name == "" {
		return nil
	}
	return &by
}

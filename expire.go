package fermata

import (
	"slices"
	"time"
)

// ExpiryOutcome is the effect of a deadline on a question.
type ExpiryOutcome int

// Effects of a deadline.
const (
	// ExpiredClosed means that the question closed as timed out.
	ExpiredClosed ExpiryOutcome = iota
	// ExpiredEscalated means that the question moved to the next level, with a
	// new deadline.
	ExpiredEscalated
)

// Expire applies the deadline to a question that is [Question.IsOverdue]. A question that was not checked for long
// may pass several levels at once.
func (q *Question) Expire(now time.Time) ExpiryOutcome {
	action := q.timeoutAction()
	for action == Escalate {
		level := q.Escalation[q.EscalationLevel]
		q.EscalationLevel++
		if len(q.Assignees) > 0 {
			// A level adds people. A question without assignees stays open to every member who may answer.
			q.Assignees = slices.Concat(q.Assignees, level.Assignees)
		}
		d, err := level.Timeout.Duration()
		if err != nil {
			// The levels were checked when the question opened. A level without
			// a duration must not keep the question open for ever.
			action = FailTask
			break
		}
		deadline := TruncateTime(q.Deadline.Add(d))
		q.Deadline = &deadline
		if now.Before(deadline) {
			return ExpiredEscalated
		}
		action = q.timeoutAction()
	}
	r := Resolution{Status: TimedOut, DecidedBy: ActorTimeout, At: *q.Deadline, Outcome: action}
	if action == TakeDefault {
		r.Answers, _ = q.Defaults()
	}
	q.close(r)
	return ExpiredClosed
}

// timeoutAction returns the action at the deadline of the question's current level.
func (q *Question) timeoutAction() TimeoutAction {
	if q.EscalationLevel > 0 {
		return q.Escalation[q.EscalationLevel-1].OnTimeout
	}
	return q.OnTimeout
}

package fermata

import (
	"slices"
	"strings"
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

// CheckMayTakeDefault refuses callers who may not answer the question, because a workflow uses the default like an
// answer. It also refuses a default that picks a dangerous option. It accepts every approval, because resuming
// approves nothing.
func (q *Question) CheckMayTakeDefault(c Caller) error {
	if q.Type == Approval {
		return nil
	}
	if err := q.CheckMayDecide(c); err != nil {
		return err
	}
	if defaults, ok := q.Defaults(); ok && q.PicksDangerousOption(defaults) {
		return Errorf(CodePolicyViolation, "the default picks an option marked as dangerous, and nobody has chosen it").
			WithHint("answer the question: fermata respond %s", q.ID)
	}
	return nil
}

func actorOrNil(by Actor) *Actor {
	if by.ID == "" && by.Name == "" {
		return nil
	}
	return &by
}

// Extend moves the deadline to d after the later of two instants: now and the current deadline.
func (q *Question) Extend(d time.Duration, p Policy, now time.Time) error {
	if q.Status != Pending {
		return q.ClosedError()
	}
	if d <= 0 {
		return Invalid(Problem{Field: "by", Message: "must be a positive duration: a deadline is put off, never brought forward"})
	}
	if q.Deadline == nil {
		return Errorf(CodeInvalidRequest, "the question has no deadline to put off")
	}
	from := *q.Deadline
	if now.After(from) {
		from = now
	}
	deadline := TruncateTime(from.Add(d))
	p.AllowShorter = true // the minimum timeout is for new questions only
	if err := p.CheckTimeout("by", Timeout(deadline.Sub(now).String())); err != nil {
		return err
	}
	q.Deadline = &deadline
	return nil
}

// decider returns the actor that decided, with a name if it is known.
func (r *Resolution) decider() Actor {
	if r.AnsweredBy != nil {
		return *r.AnsweredBy
	}
	return Actor{Kind: r.DecidedBy}
}

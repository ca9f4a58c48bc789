package fermata

import (
	"slices"
	"strings"
	"time"
)

// Expired is what a deadline did to a question.
type Expired int

// What a deadline may do.
const (
	// ExpiredClosed closed the question as timed out.
	ExpiredClosed Expired = iota
	// ExpiredEscalated moved it on to the next level, with a new deadline.
	ExpiredEscalated
)

// Expire applies the deadline to a question that is [Question.IsOverdue]. A question
// that was not looked at for long passes through several levels at once.
func (q *Question) Expire(now time.Time) Expired {
	action := q.onTimeout()
	for action == Escalate {
		level := q.Escalation[q.EscalationLevel]
		q.EscalationLevel++
		if len(q.Assignees) > 0 {
			// Where anybody may answer, anybody still may: a level adds people.
			q.Assignees = slices.Concat(q.Assignees, level.Assignees)
		}
		d, err := level.Timeout.Duration()
		if err != nil {
			// The chain was checked when the question opened; a level without
			// a clock must not hold the question open for ever.
			action = FailTask
			break
		}
		deadline := Cut(q.Deadline.Add(d))
		q.Deadline = &deadline
		if now.Before(deadline) {
			return ExpiredEscalated
		}
		action = q.onTimeout()
	}
	r := Resolution{Status: TimedOut, DecidedBy: ActorTimeout, At: *q.Deadline, Outcome: action}
	if action == TakeDefault {
		r.Answers, _ = q.Defaults()
	}
	q.close(r)
	return ExpiredClosed
}

// onTimeout returns what happens at the deadline of the level that the
// question has reached.
func (q *Question) onTimeout() TimeoutAction {
	if q.EscalationLevel > 0 {
		return q.Escalation[q.EscalationLevel-1].OnTimeout
	}
	return q.OnTimeout
}

// Cancel withdraws a pending question. Cancelling one that is cancelled already is
// fine, unless it is for another reason, which would be lost; any other end is a
// conflict.
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

// EndWithTask closes a pending question whose task ended, in the name of whoever ended it. A task that is cancelled
// withdraws its question.
func (q *Question) EndWithTask(by Actor, how TaskState, reason string, now time.Time) error {
	if _, err := q.Cancel(by, reason, now); err != nil {
		return err
	}
	if how != TaskCancelled {
		q.Resolution.TaskEnded = how
	}
	return nil
}

// LetAskerDecide closes a pending question without an answer, because its task was
// resumed: whoever asked is told to decide. The words are those of the person who
// resumed it.
func (q *Question) LetAskerDecide(by Actor, words string, now time.Time) error {
	if q.Status != Pending {
		return q.ClosedError()
	}
	q.close(Resolution{Status: Cancelled, DecidedBy: by.Kind, AnsweredBy: actorOrNil(by), At: now, Comment: words, DecideYourself: true})
	return nil
}

// MayTakeDefault refuses callers who may not answer the question, because a workflow goes on with the default as with an answer.
// It also refuses a default that picks a dangerous option.
func (q *Question) MayTakeDefault(c Caller) error {
	if q.Type == Approval {
		return nil
	}
	if err := q.mayDecide(c); err != nil {
		return err
	}
	if defaults, ok := q.Defaults(); ok && q.picksDanger(defaults) {
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

// Extend puts the deadline off by d, counted from now or from the deadline,
// whichever is later.
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
	deadline := Cut(from.Add(d))
	p.AllowShorter = true // the shortest timeout is for asking
	if err := p.CheckTimeout("by", Timeout(deadline.Sub(now).String())); err != nil {
		return err
	}
	q.Deadline = &deadline
	return nil
}

// decider is who decided, with a name where that is known.
func (r *Resolution) decider() Actor {
	if r.AnsweredBy != nil {
		return *r.AnsweredBy
	}
	return Actor{Kind: r.DecidedBy}
}

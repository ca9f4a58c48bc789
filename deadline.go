package fermata

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// askerKind is the kind of party that waits for the answer to a question.
type askerKind int

const (
	// waitingAsker is a process, a person's own session or a workflow that waits
	// for the answer.
	waitingAsker askerKind = iota
	// resumedAsker is a session that has stopped and that Fermata itself
	// resumes with the answer. It can wait for days at no cost.
	resumedAsker
)

// askerKindOf returns the kind of party that waits for an answer in the task. A
// worker can claim its task again after the answer; any other task belongs to
// the process that asks.
func askerKindOf(t *Task) askerKind {
	if t.Runner == RunnerExternal || t.Runner == RunnerWorkflow {
		return waitingAsker
	}
	return resumedAsker
}

// deadlineProblems returns the problems with the deadline of a question that has other problems. It returns none if
// the other problems make the deadline impossible to check.
func (a Ask) deadlineProblems(q *Question, kind askerKind, p Policy, now time.Time) []Problem {
	if len(q.Items) == 0 || !slices.Contains(QuestionTypes, q.Type) || len(q.Escalation) > MaxEscalation {
		return nil
	}
	refusal, _ := errors.AsType[*Error](a.setDeadline(q, kind, p, now))
	if refusal == nil {
		return nil
	}
	return refusal.Problems
}

// setDeadline sets the deadline of the question and the action at the deadline. Escalation needs a deadline, so a
// question with levels gets the default timeout of an asker that waits.
func (a Ask) setDeadline(q *Question, kind askerKind, p Policy, now time.Time) error {
	if len(q.Escalation) > 0 {
		kind = waitingAsker
	}
	if q.Timeout == "" {
		q.Timeout = p.timeoutOf(q.Type, kind)
	}
	_, hasDefault := q.Defaults()
	if q.OnTimeout == "" {
		q.OnTimeout = FailTask
		switch {
		case len(q.Escalation) > 0:
			q.OnTimeout = Escalate
		case q.Type != Approval && hasDefault:
			q.OnTimeout = TakeDefault
		}
	}
	refusals := []error{p.CheckTimeout("timeout", q.Timeout), q.checkEscalation(p)}
	if q.Type == NonBlocking && !hasDefault {
		needed := Invalid(Problem{Field: "default", Message: "a non_blocking question needs a default: the task goes on with it"})
		refusals = slices.Insert(refusals, 0, error(needed))
	} else {
		refusals = append(refusals, a.checkDefaultOnTimeout(q))
	}
	if err := JoinRefusals(refusals...); err != nil || q.Timeout == Never {
		return err
	}
	d, err := q.Timeout.Duration()
	if err != nil {
		return err
	}
	deadline := TruncateTime(now.Add(d))
	q.Deadline = &deadline
	return nil
}

// checkDefaultOnTimeout refuses a deadline that would take a missing default,
// or a default that no deadline may take. It also checks a non-blocking
// question, whose task goes on with the default whatever its deadline does.
func (a Ask) checkDefaultOnTimeout(q *Question) error {
	takesDefault := q.OnTimeout == TakeDefault || q.Type == NonBlocking
	for _, level := range q.Escalation {
		takesDefault = takesDefault || level.OnTimeout == TakeDefault
	}
	if !takesDefault {
		return nil
	}
	answers, ok := q.Defaults()
	if !ok {
		return Invalid(Problem{Field: "default", Message: "on_timeout is default, but there is no default for every required item"})
	}
	switch {
	case q.Type == Approval && answers[q.Items[0].Key] == Approve:
		return badDefaultError("silence would approve", "choose the default reject or another on_timeout: only people approve")
	case q.PicksDangerousOption(answers) && !a.AllowDangerDefault:
		return badDefaultError("the default picks an option marked as dangerous", "choose another default or on_timeout, or set allow_danger_default if you mean it")
	}
	return nil
}

// badDefaultError returns the error for a default that must not be taken at the deadline.
func badDefaultError(problem, hint string) error {
	return (&Error{
		Code: CodePolicyViolation, Message: problem + " at the deadline", Problems: []Problem{{Field: "default", Message: problem}},
	}).WithHint("%s", hint)
}

func (q *Question) checkEscalation(p Policy) error {
	var ps problems
	var refusals []error
	last := len(q.Escalation) - 1
	if q.OnTimeout == Escalate && last < 0 {
		ps.add("escalation", "on_timeout is escalate, but there is no level to escalate to")
	}
	if q.OnTimeout != Escalate && last >= 0 {
		ps.add("on_timeout", "must be escalate where there are escalation levels")
	}
	for i := range q.Escalation {
		level, at := &q.Escalation[i], fmt.Sprintf("escalation[%d]", i)
		if level.OnTimeout == "" && i < last {
			level.OnTimeout = Escalate
		}
		switch {
		case i < last && level.OnTimeout != Escalate:
			ps.add(at+".on_timeout", "must be escalate where another level follows")
		case i == last && (level.OnTimeout == "" || level.OnTimeout == Escalate):
			ps.add(at+".on_timeout", "the last level must say default, skip or fail")
		}
		if level.Timeout == Never || level.Timeout == "" {
			ps.add(at+".timeout", "must be a duration: a chain of escalation ends")
			continue
		}
		refusals = append(refusals, p.CheckTimeout(at+".timeout", level.Timeout))
	}
	if len(ps) > 0 {
		refusals = append(refusals, Invalid(ps...))
	}
	return JoinRefusals(refusals...)
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

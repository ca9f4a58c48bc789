package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// Ask opens a question on a task. If the same question is still open, it
// returns that question and counts the ask.
func (e *Engine) Ask(ctx context.Context, c fermata.Caller, taskID string, a fermata.Ask) (*fermata.Question, error) {
	if err := c.CheckPermission(fermata.ToAsk, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	taskID, err := e.taskID(ctx, c, taskID)
	if err != nil {
		return nil, err
	}
	return write(ctx, e, c, fermata.ToAsk, func(tx *store.Tx) (*fermata.Question, error) {
		t, err := tx.Task(taskID)
		if err == nil {
			err = checkTaskPermission(tx, c, fermata.ToAsk, t)
		}
		if err == nil {
			err = e.settlePendingIfDue(tx, t)
		}
		if err != nil {
			return nil, err
		}
		appendedBefore := tx.AppendedCount()
		q, err := (*fermata.Question)(nil), checkRunActive(tx, t, a.RunID)
		if err == nil {
			q, err = e.ask(tx, t, "", a, c.Actor())
		}
		return q, wrapTooLate(tx, appendedBefore, err)
	}, store.ReadAhead{Task: taskID})
}

// checkRunActive refuses a question of a run that has ended or must stop. A question of an agent that is being stopped
// would delay the next run.
func checkRunActive(tx *store.Tx, t *fermata.Task, runID string) error {
	if runID == "" {
		return nil
	}
	run, err := actingRun(tx, t, runID)
	if err != nil {
		return err
	}
	// The end of the lease is ignored: a worker can renew the lease until another run begins.
	if why := t.HaltReason(runID, run, time.Time{}); why != "" {
		return fermata.Errorf(fermata.CodeStaleRun, "this run may not ask: %s", why).WithHint("stop the work of this run: only a later run can continue the task")
	}
	return nil
}

// ask opens a question in a transaction. runID is the run that ends with the
// question. It is empty for a question that comes through the API.
func (e *Engine) ask(tx *store.Tx, t *fermata.Task, runID string, a fermata.Ask, by fermata.Actor) (*fermata.Question, error) {
	policy, err := e.policy(tx.Reader)
	if err != nil {
		return nil, err
	}
	return e.askUnderPolicy(tx, t, runID, a, policy, by)
}

func (e *Engine) askUnderPolicy(tx *store.Tx, t *fermata.Task, runID string, a fermata.Ask, policy fermata.Policy, by fermata.Actor) (*fermata.Question, error) {
	if a.IdempotencyKey != "" {
		q, err := findByIdempotencyKey(tx, a, by)
		if q != nil && q.TaskID != t.ID {
			return nil, keyTakenError(q)
		}
		if q != nil || err != nil {
			return q, err
		}
	}
	if t.State.IsEnded() {
		return nil, fermata.Errorf(fermata.CodeIllegalTransition, "a task that is %s cannot ask", t.State).
			WithHint("reopen the task first")
	}
	if err := t.CheckNotPaused(); err != nil {
		return nil, err
	}
	if q, err := e.countRepeatedAsk(tx, t, runID, a, policy, by); q != nil || err != nil {
		return q, err
	}
	q, changeNote, err := e.openQuestion(tx, t, runID, a, policy, by)
	if err != nil {
		return nil, err
	}
	if q.Type.Suspends() {
		if err := e.replacePending(tx, t, q, by); err != nil {
			return nil, err
		}
	}
	if err := e.saveQuestion(tx, t, q, policy, runID != "", by); err != nil {
		return nil, err
	}
	if changeNote != "" {
		addComment(tx, q, fermata.SystemActor, changeNote)
	}
	return q, nil
}

// openQuestion applies the rules of asking and the policy. A question with which a run ends is asked even if it names unknown
// people or channels. In this case, changeNote is the text that tells people who is asked instead.
func (e *Engine) openQuestion(tx *store.Tx, t *fermata.Task, runID string, a fermata.Ask, policy fermata.Policy, by fermata.Actor) (q *fermata.Question, changeNote string, err error) {
	q, err = a.Open(fermata.NewID(fermata.PrefixQuestion, tx.Now()), t, by, policy, tx.Now())
	if err != nil {
		return nil, "", err
	}
	if e.enrichQuestion != nil {
		if err := e.enrichQuestion(tx.Reader, t, q); err != nil {
			return nil, "", err
		}
	}
	denyRule, err := raiseRiskByRules(tx, t, q, policy)
	if err != nil {
		return nil, "", err
	}
	if denyRule != nil && runID == "" {
		// A question with which a run ends is asked in any case. Its grant is refused.
		return nil, "", fermata.Errorf(fermata.CodePolicyViolation, "the rule %s denies this action: no approval would let it run", denyRule.ID).
			WithHint("do without it, or ask a person to change the rules of gates: fermata gate list")
	}
	q.RunID = runID
	if runID == "" && t.State == fermata.TaskInProgress && t.Runner != fermata.RunnerExternal {
		q.RunID = t.RunID
	}
	var members []fermata.Member
	if q.Approvals != nil || len(q.Assignees) > 0 {
		all, err := tx.Members()
		if err != nil {
			return nil, "", err
		}
		members = derefAll(all)
	}
	if runID != "" {
		changeNote, err = adaptFinalQuestion(tx.Reader, q, members)
		return q, changeNote, err
	}
	if err := q.CheckQuorum(members); err != nil {
		return nil, "", err
	}
	if err := q.CheckAssignees(members); err != nil {
		return nil, "", err
	}
	return q, "", checkReachable(tx.Reader, q)
}

// adaptFinalQuestion adapts a question with which a run ends, so that it can be asked. If no member whom it names may
// answer, it asks operators and admins, because they can assign it. It returns a text that tells people how the
// question differs from the one in the result of the run, or "" if it does not.
func adaptFinalQuestion(r store.Reader, q *fermata.Question, members []fermata.Member) (changeNote string, err error) {
	var lines []string
	if named := q.Assignees; q.ReassignToOperators(members) {
		lines = append(lines, fmt.Sprintf("The question was for %s, but none of them may answer it. Fermata asks operators and admins instead.", strings.Join(named, ", ")))
	}
	if err := q.CheckQuorum(members); err != nil {
		return "", err
	}
	var wrong *fermata.Error
	if err := checkReachable(r, q); errors.As(err, &wrong) && wrong.Code == fermata.CodeInvalidRequest {
		for _, p := range wrong.Problems {
			lines = append(lines, "This part of the request has no effect: "+p.Message+".")
		}
	} else if err != nil {
		return "", err
	}
	return strings.Join(lines, "\n"), nil
}

// raiseRiskByRules raises the risk of an approval of a tool call to the risk that the gate rules give to the call. So
// an agent cannot avoid the rules by asking people directly. It returns a rule that denies the call, or nil.
func raiseRiskByRules(tx *store.Tx, t *fermata.Task, q *fermata.Question, policy fermata.Policy) (denyRule *fermata.GateRule, err error) {
	risk, denyRule, err := evaluateGateRules(tx, t, q.Action, policy)
	if err == nil && risk != "" {
		q.RaiseRisk(risk, policy)
	}
	return denyRule, err
}

// evaluateGateRules returns the highest risk that the gate rules give to an action, and a rule that denies the action, or
// nil if no rule does.
func evaluateGateRules(tx *store.Tx, t *fermata.Task, action json.RawMessage, policy fermata.Policy) (risk fermata.Risk, denyRule *fermata.GateRule, err error) {
	calls := fermata.CallsOf(action)
	if len(calls) == 0 {
		return "", nil, nil
	}
	rules, err := tx.GateRules()
	if err != nil {
		return "", nil, err
	}
	from := fermata.OriginOf(t)
	for _, call := range calls {
		risk = fermata.HigherRisk(risk, fermata.RiskOfCall(call, from, rules, readShell, tx.Now()))
		if r := fermata.JudgeCall(call, from, rules, policy, readShell, tx.Now()); r.Decision == fermata.GateDeny && r.Rule != nil {
			denyRule = r.Rule
		}
	}
	return risk, denyRule, nil
}

func derefAll[T any](pointers []*T) []T {
	out := make([]T, 0, len(pointers))
	for _, p := range pointers {
		out = append(out, *p)
	}
	return out
}

// saveQuestion saves the question and moves the task, by the policy's decision on the
// agent's confidence. With runEnds, the asking run is being finished.
func (e *Engine) saveQuestion(tx *store.Tx, t *fermata.Task, q *fermata.Question, policy fermata.Policy, runEnds bool, by fermata.Actor) error {
	tx.Append(askedEvent(t, q, by))
	decision, err := judgeConfidence(tx, t, q, policy)
	if err != nil {
		return err
	}
	switch decision {
	case fermata.TakeGuess:
		return e.answerByPolicy(tx, t, q, by)
	case fermata.SkipForPerson:
		tx.InsertQuestion(q)
		if !runEnds {
			if err := stopRun(tx, t, "the confidence is below the policy", fermata.PolicyActor); err != nil {
				return err
			}
		}
		return e.endTask(tx, t, fermata.TaskSkipped, fermata.ReasonLowConfidence, fermata.PolicyActor)
	case fermata.AskPerson:
	}
	if e.unreachedReason != nil {
		why, err := e.unreachedReason(tx.Reader, q)
		if err != nil {
			return err
		}
		q.UnreachedReason = why
	}
	tx.InsertQuestion(q)
	if !q.Type.Suspends() {
		return nil
	}
	t.PendingQuestionID = q.ID
	if q.RunID == "" || t.State != fermata.TaskInProgress {
		// No run will report its end, so the task is suspended at once.
		if err := moveTask(tx, t, q.Type.AwaitingState(), by); err != nil {
			return err
		}
	}
	tx.SaveTask(t)
	return nil
}

// askedEvent returns the event question.asked.
func askedEvent(t *fermata.Task, q *fermata.Question, by fermata.Actor) *fermata.Event {
	return &fermata.Event{
		Type: fermata.EventQuestionAsked, TaskID: t.ID, QuestionID: q.ID, RunID: q.RunID, Actor: by,
		Data: encodeData(newAskedData(t, q)),
	}
}

// judgeConfidence returns the policy's decision on the agent's confidence. If people wrote something that no run was handed, the
// task is not set aside: a person is present, so people are asked.
func judgeConfidence(tx *store.Tx, t *fermata.Task, q *fermata.Question, policy fermata.Policy) (fermata.ConfidenceDecision, error) {
	v := policy.DecideByConfidence(q)
	if v != fermata.SkipForPerson || t.Unread == 0 {
		return v, nil
	}
	questions, messages, err := tx.PendingHandOver(t.ID)
	if err == nil && fermata.HasHumanInput(questions, messages) {
		v = fermata.AskPerson
	}
	return v, err
}

// answerByPolicy answers the question with the agent's own default, because the
// policy allows it. The task resumes as after any answer.
func (e *Engine) answerByPolicy(tx *store.Tx, t *fermata.Task, q *fermata.Question, by fermata.Actor) error {
	tx.InsertQuestion(q)
	if q.Type.Suspends() {
		t.PendingQuestionID = q.ID
		if q.RunID == "" || t.State != fermata.TaskInProgress {
			if err := moveTask(tx, t, q.Type.AwaitingState(), by); err != nil {
				return err
			}
		}
		tx.SaveTask(t)
	}
	q.AnswerByPolicy(tx.Now())
	return e.settle(tx, t, q, fermata.PolicyActor)
}

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
		return fermata.Errorf(fermata.CodeStaleRun, "nothing is asked any more: %s", why).WithHint("stop: what comes next is another run's")
	}
	return nil
}

// AskExternal opens a question without a task. It creates an external task for
// the question, or uses the task of the session, so that every question has a
// thread.
func (e *Engine) AskExternal(ctx context.Context, c fermata.Caller, project, session string, a fermata.Ask) (*fermata.Question, error) {
	if err := c.CheckPermission(fermata.ToAsk, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	project = c.ProjectOr(project)
	if err := c.CheckPermission(fermata.ToAsk, fermata.InProject(project)); err != nil {
		return nil, err
	}
	if err := fermata.CheckSessionKey("session", session); err != nil {
		return nil, err
	}
	if a.RunID != "" {
		return nil, fermata.Invalid(fermata.Problem{Field: "run_id", Message: "goes with a question of its task: POST /v1/tasks/{id}/questions"})
	}
	return write(ctx, e, c, fermata.ToAsk, func(tx *store.Tx) (*fermata.Question, error) {
		if a.IdempotencyKey != "" {
			q, err := findByIdempotencyKey(tx, a, c.Actor())
			if q != nil && err == nil {
				err = checkSameSession(tx, q, project, session)
			}
			if q != nil || err != nil {
				return q, err
			}
		}
		t, err := e.externalTask(tx, c, project, session, a)
		if err == nil {
			// The task of a session may be in another project.
			err = checkTaskPermission(tx, c, fermata.ToAsk, t)
		}
		if err != nil {
			return nil, err
		}
		return e.ask(tx, t, "", a, c.Actor())
	})
}

// checkSameSession refuses an idempotency key that the caller used in another session or project.
func checkSameSession(tx *store.Tx, q *fermata.Question, project, session string) error {
	t, err := tx.Task(q.TaskID)
	if err != nil {
		return err
	}
	// The task of a session may be in another project than the one in the request.
	if t.SessionKey != session || session == "" && project != "" && project != t.Project {
		return keyTakenError(q)
	}
	return nil
}

// sessionReader is the part of a reader or a transaction that finds tasks of sessions.
type sessionReader interface {
	TasksOfSession(key string) ([]*fermata.Task, error)
	EndedTasksOfSession(key string) ([]*fermata.Task, error)
}

// taskOfSession returns the newest task of the caller's session. The task may
// be in another project than the one in the request.
func taskOfSession(r sessionReader, c fermata.Caller, v fermata.Verb, key string) (*fermata.Task, error) {
	all, err := r.TasksOfSession(key)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if isOwnSession(c, t) {
			return t, c.CheckPermission(v, fermata.InTask(t))
		}
	}
	return nil, fermata.NotFound("session", key)
}

// cancelledTask returns the last ended task of the caller's session if it was cancelled, and nil otherwise.
func cancelledTask(r sessionReader, c fermata.Caller, key string) (*fermata.Task, error) {
	ended, err := r.EndedTasksOfSession(key)
	if err != nil {
		return nil, err
	}
	for _, t := range ended {
		if !isOwnSession(c, t) {
			continue
		}
		if t.State != fermata.TaskCancelled {
			return nil, nil
		}
		return t, nil
	}
	return nil, nil
}

// checkNotStopped refuses an agent a new task for a session whose task was cancelled. Only a person may let the
// session continue.
func checkNotStopped(r sessionReader, c fermata.Caller, key string) error {
	if c.Kind != fermata.ActorAgent {
		return nil
	}
	t, err := cancelledTask(r, c, key)
	if err != nil || t == nil {
		return err
	}
	return fermata.Errorf(fermata.CodeIllegalTransition, "the session is stopped: its task %s was cancelled", t.ID).
		WithHint("a person lets the session go on: fermata reopen %s", t.ID)
}

// isOwnSession reports whether the caller created the task of a session. To know the key of the session is not enough:
// an agent or a person that names the session of another one gets a task of its own. Otherwise this caller would act
// with approvals that others got. Callers of other kinds own every session.
func isOwnSession(c fermata.Caller, t *fermata.Task) bool {
	switch c.Kind {
	case fermata.ActorAgent:
		return t.CreatedBy.Kind == fermata.ActorAgent && t.CreatedBy.ID == c.TokenID
	case fermata.ActorHuman:
		return t.CreatedBy.Kind == fermata.ActorHuman && t.CreatedBy.ID == c.MemberID
	default:
		return true
	}
}

// externalTask returns the external task of a session, or a new one.
func (e *Engine) externalTask(tx *store.Tx, c fermata.Caller, project, session string, a fermata.Ask) (*fermata.Task, error) {
	if session != "" {
		t, err := taskOfSession(tx, c, fermata.ToAsk, session)
		if err == nil {
			err = e.settlePendingIfDue(tx, t)
		}
		if err == nil && !t.State.IsEnded() || err != nil && fermata.CodeOf(err) != fermata.CodeNotFound {
			return t, err
		}
		if err := checkNotStopped(tx, c, session); err != nil {
			return nil, err
		}
	}
	policy, err := e.policy(tx.Reader)
	if err != nil {
		return nil, err
	}
	// Open the question once on a task that does not exist, only to learn its
	// title and its problems before anything is written.
	probe, err := a.Open("", &fermata.Task{Runner: fermata.RunnerExternal}, c.Actor(), policy, tx.Now())
	if err != nil {
		return nil, err
	}
	n := fermata.NewTask{
		Title: probe.Title, Project: project, Runner: fermata.RunnerExternal, SessionKey: session, EndsWithAnswer: session == "",
	}
	return e.createTask(tx, n, c.Actor())
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
		lines = append(lines, fmt.Sprintf("This was asked of %s, of whom nobody may answer. Operators and admins are asked instead.", strings.Join(named, ", ")))
	}
	if err := q.CheckQuorum(members); err != nil {
		return "", err
	}
	var wrong *fermata.Error
	if err := checkReachable(r, q); errors.As(err, &wrong) && wrong.Code == fermata.CodeInvalidRequest {
		for _, p := range wrong.Problems {
			lines = append(lines, "Not as it was asked: "+p.Message+".")
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
	verdict, err := judge(tx, t, q, policy)
	if err != nil {
		return err
	}
	switch verdict {
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
		if err := move(tx, t, q.Type.AwaitingState(), by); err != nil {
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

// judge returns the policy's decision on the agent's confidence. If people wrote something that no run was handed, the
// task is not set aside: a person is present, so people are asked.
func judge(tx *store.Tx, t *fermata.Task, q *fermata.Question, policy fermata.Policy) (fermata.ConfidenceDecision, error) {
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
			if err := move(tx, t, q.Type.AwaitingState(), by); err != nil {
				return err
			}
		}
		tx.SaveTask(t)
	}
	q.AnswerByPolicy(tx.Now())
	return e.settle(tx, t, q, fermata.PolicyActor)
}

// findByIdempotencyKey returns the question that the asker asked before with the idempotency key, or nil if there is none. Another
// question under the key is a conflict.
func findByIdempotencyKey(tx *store.Tx, a fermata.Ask, by fermata.Actor) (*fermata.Question, error) {
	q, err := tx.QuestionByKey(a.IdempotencyKey, by)
	switch {
	case fermata.CodeOf(err) == fermata.CodeNotFound:
		return nil, nil
	case err != nil:
		return nil, err
	case q.Fingerprint != a.Fingerprint():
		return nil, keyTakenError(q)
	}
	// A person who writes the database directly could give the key to an answered question.
	return q, CheckRecorded(tx, q)
}

// keyTakenError returns the error for a key that belongs to another question of the asker.
func keyTakenError(q *fermata.Question) error {
	return fermata.Errorf(fermata.CodeIdempotencyConflict, "the idempotency key %q belongs to another question, %s", q.IdempotencyKey, q.ID).
		WithHint("use a new key for a new question")
}

// countRepeatedAsk returns the pending question that this ask repeats, and counts the ask. It returns nil if there is
// none. A question of another asker does not count, nor does a question that asks other people or needs less from them.
func (e *Engine) countRepeatedAsk(tx *store.Tx, t *fermata.Task, runID string, a fermata.Ask, policy fermata.Policy, by fermata.Actor) (*fermata.Question, error) {
	if t.PendingQuestionID == "" && a.DedupeKey == "" {
		return nil, nil
	}
	pending, err := tx.PendingQuestionsOf(t.ID)
	if err != nil {
		return nil, err
	}
	for _, q := range pending {
		if q.IsDecided(tx.Now()) || !q.IsRepeatedBy(a) || !q.AskedBy.Is(by) {
			continue
		}
		if q.Fingerprint != a.Fingerprint() {
			next, _, err := e.openQuestion(tx, t, runID, a, policy, by)
			if err != nil {
				return nil, err
			}
			if !q.IsAsStrictAs(next) {
				continue
			}
		}
		q.AskCount++
		tx.UpdatePending(q)
		tx.Append(&fermata.Event{
			Type: fermata.EventQuestionAskedAgain, TaskID: t.ID, QuestionID: q.ID, Actor: by,
			Data: encodeData(map[string]int{"ask_count": q.AskCount}),
		})
		return q, nil
	}
	return nil, nil
}

// replacePending makes room for a question that suspends the task. It cancels a
// question that an earlier run asked, since the agent continued without the
// answer. Otherwise it refuses the new question. It also refuses it if the
// pending question is decided and must be settled first.
func (e *Engine) replacePending(tx *store.Tx, t *fermata.Task, next *fermata.Question, by fermata.Actor) error {
	if t.PendingQuestionID == "" {
		return nil
	}
	old, err := tx.Question(t.PendingQuestionID)
	if err != nil {
		return err
	}
	if old.IsDecided(tx.Now()) {
		// The deadline or a held answer has decided the old question. That
		// decision must be settled first.
		return fermata.Errorf(fermata.CodePendingQuestionExists, "question %s is decided and is being settled", old.ID).
			WithHint("read the task again")
	}
	if next.RunID == "" || old.RunID == next.RunID {
		e := fermata.Errorf(fermata.CodePendingQuestionExists, "the task waits for an answer to %s already: %s", old.ID, old.Title)
		e.Question = old.ViewFor(fermata.Caller{Kind: by.Kind})
		return e.WithHint("if it is the same question, stop and wait for its answer; else cancel it first, or put both into one question with several items")
	}
	if _, err := old.Cancel(by, "replaced by "+next.ID, tx.Now()); err != nil {
		return err
	}
	saveClosed(tx, old, by)
	t.PendingQuestionID = ""
	return nil
}

package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// Answer settles a question with a person's answer, or counts it as a vote. The
// same answer again is no error. Another answer to a closed question is
// [fermata.CodeQuestionClosed], and the error names who decided. An answer
// after a timeout is stored, and restarts the task if it asks for that. With
// undo, the answer is held for some seconds first.
func (e *Engine) Answer(ctx context.Context, c fermata.Caller, id string, a fermata.Answer) (*fermata.Question, error) {
	return e.changeQuestion(ctx, c, fermata.ToAnswer, id, func(tx *store.Tx, t *fermata.Task, q *fermata.Question) error {
		if err := usePasskey(tx, c, a.Signed); err != nil {
			return err
		}
		outcome, err := e.applyAnswer(tx, q, c, a)
		if err != nil {
			return err
		}
		if err := e.checkRemedyInput(tx, q, outcome); err != nil {
			return err
		}
		switch outcome {
		case fermata.AnswerCloses:
			return e.settle(tx, t, q, c.Actor())
		case fermata.AnswerVotes:
			appendVote(tx, q, c.Actor())
			explainDiscountedVotes(tx, q)
		case fermata.AnswerLate:
			return e.saveLateAnswer(tx, t, q, c.Actor())
		case fermata.AnswerHeld:
			holdAnswer(tx, q)
		case fermata.AnswerRepeats:
		}
		return nil
	})
}

// applyAnswer applies or holds the answer. It first discounts votes that do not count.
func (e *Engine) applyAnswer(tx *store.Tx, q *fermata.Question, c fermata.Caller, a fermata.Answer) (fermata.AnswerOutcome, error) {
	if q.Status == fermata.Pending {
		// If a row was changed directly in the database, the person may have read another question, or may not be
		// eligible for the real one.
		if err := CheckRecorded(tx, q); err != nil {
			return 0, err
		}
	}
	if err := discountVotes(tx, q); err != nil {
		return 0, err
	}
	if err := e.checkEdit(tx, q, a.Action); err != nil {
		return 0, err
	}
	if !a.Undo {
		return q.ApplyAnswer(a, c, tx.Now())
	}
	policy, err := e.policy(tx.Reader)
	if err != nil {
		return 0, err
	}
	return q.Hold(a, c, policy, tx.Now())
}

// checkEdit refuses an edited action that a gate rule denies. It also refuses an edited action for which the rules
// require a stronger sign-in than the question requires. An approval of such an action could not be used.
func (e *Engine) checkEdit(tx *store.Tx, q *fermata.Question, edited json.RawMessage) error {
	if q.Status != fermata.Pending || len(edited) == 0 {
		return nil
	}
	policy, err := e.policy(tx.Reader)
	if err != nil {
		return err
	}
	t, err := tx.Task(q.TaskID)
	if err != nil {
		return err
	}
	risk, denyRule, err := evaluateGateRules(tx, t, edited, policy)
	if err != nil {
		return err
	}
	if denyRule != nil {
		return fermata.Errorf(fermata.CodePolicyViolation, "a rule denies the edited action: %s", denyRule.Sentence()).
			WithHint("no approval overrides this rule")
	}
	raised := *q
	if raised.RaiseRisk(risk, policy); raised.LeastAssurance != q.LeastAssurance {
		return fermata.Errorf(fermata.CodePolicyViolation, "the edited action has the risk %s, which requires a stronger sign-in than this approval", raised.Risk).
			WithHint("reject this action and say what to run instead: the agent can then ask again")
	}
	return nil
}

// checkRemedyInput refuses an answer that gives a failed step an input that the step cannot take.
func (e *Engine) checkRemedyInput(tx *store.Tx, q *fermata.Question, outcome fermata.AnswerOutcome) error {
	if q.Type != fermata.ErrorRecovery || e.checkOtherInput == nil {
		return nil
	}
	var answers map[string]any
	switch outcome {
	case fermata.AnswerCloses:
		answers = q.Resolution.Answers
	case fermata.AnswerHeld:
		answers = q.HeldAnswer.Answers
	case fermata.AnswerVotes, fermata.AnswerLate, fermata.AnswerRepeats:
		return nil
	}
	if answers[fermata.RemedyKey] != fermata.RemedyRetryWithInput {
		return nil
	}
	input, _ := answers[fermata.RemedyInputKey].(string)
	return e.checkOtherInput(tx.Reader, q, json.RawMessage(input))
}

// discountVotes marks the votes of a question that do not count. A vote does not count if its member is gone or may not
// answer the question at present: the question was given to others, or the member has another role or other groups.
func discountVotes(tx *store.Tx, q *fermata.Question) error {
	for _, v := range q.Votes {
		may, err := mayStillAnswer(tx, q, v.By.ID)
		if err != nil {
			return err
		}
		if may {
			continue
		}
		if q.DiscountedMembers == nil {
			q.DiscountedMembers = map[string]bool{}
		}
		q.DiscountedMembers[v.By.ID] = true
	}
	return nil
}

// mayStillAnswer reports whether a member who answered a question, or voted on it, may answer it at present.
func mayStillAnswer(tx *store.Tx, q *fermata.Question, id string) (bool, error) {
	m, err := tx.Member(id)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return false, nil
	}
	return err == nil && m.DisabledAt == nil && q.CheckMayAnswer(m.Caller()) == nil, err
}

// loadAndSettleIfDue loads a question and its task. It first settles the question if a
// held answer or the deadline is due, whether or not a sweep has run.
func (e *Engine) loadAndSettleIfDue(tx *store.Tx, id string) (*fermata.Question, *fermata.Task, error) {
	q, err := tx.Question(id)
	if err != nil {
		return nil, nil, err
	}
	t, err := tx.Task(q.TaskID)
	if err != nil {
		return nil, nil, err
	}
	return q, t, e.settleIfDue(tx, t, q)
}

// settleIfDue settles a question if its held answer or its deadline is due.
func (e *Engine) settleIfDue(tx *store.Tx, t *fermata.Task, q *fermata.Question) error {
	if q.IsReleaseDue(tx.Now()) {
		if err := dropInvalidHeldAnswer(tx, q); err != nil {
			return err
		}
	}
	switch {
	case q.IsReleaseDue(tx.Now()):
		return e.releaseAnswer(tx, t, q)
	case q.IsOverdue(tx.Now()):
		return e.expireQuestion(tx, t, q)
	}
	return nil
}

// settlePendingIfDue settles the question that the task waits for, if it is due,
// before anything else happens to the task. The instant of the deadline counts,
// not the time of the next sweep.
func (e *Engine) settlePendingIfDue(tx *store.Tx, t *fermata.Task) error {
	if t.PendingQuestionID == "" {
		return nil
	}
	q, err := tx.Question(t.PendingQuestionID)
	if err != nil {
		return err
	}
	return e.settleIfDue(tx, t, q)
}

// voteCastData is the data of the event question.vote_cast.
type voteCastData struct {
	Value     string            `json:"value"`
	Votes     int               `json:"votes"`
	Required  int               `json:"required"`
	Assurance fermata.Assurance `json:"assurance"`
	// CommentHash is the hash of the comment. The event that closes the question contains the comment itself.
	CommentHash string                  `json:"comment_hash"`
	Signed      *fermata.SignedDecision `json:"signed,omitempty"`
}

// commentHash returns the hash of a comment: its SHA-256 in hex.
func commentHash(comment string) string { return (&fermata.Message{Body: comment}).ContentHash() }

func appendVote(tx *store.Tx, q *fermata.Question, by fermata.Actor) {
	tx.UpdatePending(q)
	last := q.Votes[len(q.Votes)-1]
	tx.Append(&fermata.Event{
		Type: fermata.EventQuestionVoteCast, TaskID: q.TaskID, QuestionID: q.ID, Actor: by,
		Data: encodeData(voteCastData{Value: last.Value, Votes: len(q.Votes), Required: q.Approvals.Required, Assurance: last.Assurance, CommentHash: commentHash(last.Comment), Signed: last.Signed}),
	})
}

// explainDiscountedVotes posts in the thread why a question is still open although enough people have approved it.
func explainDiscountedVotes(tx *store.Tx, q *fermata.Question) {
	approvals := 0
	for _, v := range q.Votes {
		if v.Value == fermata.Approve {
			approvals++
		}
	}
	if approvals < q.Approvals.Required {
		return
	}
	for _, v := range q.Votes {
		if q.DiscountedMembers[v.By.ID] {
			addComment(tx, q, fermata.SystemActor, "The approval of "+v.By.DisplayName()+" does not count any more: they may not answer this question today.")
		}
	}
}

// lateAnswerData is the data of the event question.answered_late.
type lateAnswerData struct {
	Answers   map[string]any          `json:"answers"`
	Comment   string                  `json:"comment"`
	Restarted bool                    `json:"restarted"`
	Signed    *fermata.SignedDecision `json:"signed,omitempty"`
}

// saveLateAnswer stores an answer that came after the deadline. With restart, an ended task continues with it.
func (e *Engine) saveLateAnswer(tx *store.Tx, t *fermata.Task, q *fermata.Question, by fermata.Actor) error {
	last := q.Resolution.LateAnswers[len(q.Resolution.LateAnswers)-1]
	tx.Append(&fermata.Event{
		Type: fermata.EventQuestionAnsweredLate, TaskID: t.ID, QuestionID: q.ID, Actor: by,
		Data: encodeData(lateAnswerData{last.Answers, last.Comment, last.Restarted, last.Signed}),
	})
	if last.Restarted && t.State == fermata.TaskCancelled {
		return fermata.Errorf(fermata.CodeIllegalTransition, "a task that is %s is not restarted by an answer", t.State).
			WithHint("reopen the task first")
	}
	if last.Restarted {
		if err := checkRestart(tx, t); err != nil {
			return err
		}
	}
	// The next run gets the question again, with the late answer. This is also true for a run that begins after a
	// person reopens the task.
	q.HandedTo = ""
	if last.Restarted || !t.State.IsEnded() {
		t.Unread++
	}
	tx.SaveLateAnswer(q)
	if last.Restarted && t.State.IsEnded() {
		if err := checkConcurrencyKeyFree(tx, t); err != nil {
			return err
		}
		t.Attempts = 0
		if err := moveTask(tx, t, t.ReadyState(), by); err != nil {
			return err
		}
	}
	tx.SaveTask(t)
	return nil
}

// checkRestart refuses to restart the task of a question that a step of a workflow run asked while other steps went on.
// The run has continued without the answer and would not get it.
func checkRestart(tx *store.Tx, t *fermata.Task) error {
	parent, err := parentAskingRun(tx, t)
	if err != nil || parent == nil {
		return err
	}
	return fermata.Errorf(fermata.CodeIllegalTransition, "a workflow asked this beside other steps: an answer does not restart it").
		WithHint("answer without the restart, which keeps the answer, or let the run ask again: fermata workflow retry %s", parent.ID)
}

// WaitQuestionOrMessage waits as [Engine.WaitQuestion] does. If the question belongs to an external task, it also returns when a
// person wrote a message that the task's agent was not handed.
func (e *Engine) WaitQuestionOrMessage(ctx context.Context, c fermata.Caller, id string, wait time.Duration) (*fermata.Question, error) {
	q, err := e.Question(ctx, c, id)
	if err != nil || q.Status != fermata.Pending {
		return q, err
	}
	t, err := e.Task(ctx, c, q.TaskID)
	if err != nil {
		return nil, err
	}
	if t.Runner != fermata.RunnerExternal {
		// A run is handed messages by its worker.
		return e.WaitQuestion(ctx, c, q.ID, wait)
	}
	r := e.reader(ctx, c)
	err = e.waitForTopicAs(ctx, &c, taskTopic(t.ID), wait, func() (bool, error) {
		if q, err = e.Question(ctx, c, q.ID); err != nil || q.Status != fermata.Pending {
			return true, err
		}
		messages, err := r.UnhandedMessages(t.ID, "")
		return len(messages) > 0, err
	})
	return q, err
}

// WaitQuestion returns the question when it is closed or the time of the wait
// has passed.
func (e *Engine) WaitQuestion(ctx context.Context, c fermata.Caller, id string, wait time.Duration) (*fermata.Question, error) {
	id, err := e.questionID(ctx, c, id)
	if err != nil {
		return nil, err
	}
	var q *fermata.Question
	err = e.waitForTopicAs(ctx, &c, "question:"+id, wait, func() (bool, error) {
		q, err = e.Question(ctx, c, id)
		return err != nil || q.Status != fermata.Pending, err
	})
	if err == nil && q.Status != fermata.Pending {
		// A script continues with this answer, so it must agree with the events.
		err = CheckRecorded(e.reader(ctx, c), q)
	}
	return q, err
}

package engine

import (
	"context"
	"encoding/json"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// addGrants adds to a context the grants for approved actions. closed are the
// closed questions of the context, in the same order.
func addGrants(rc *fermata.ResumeContext, closed []*fermata.Question, r store.Reader, key func() ([]byte, error)) error {
	var approved []string
	for _, q := range closed {
		if _, ok := q.Grant(); ok {
			approved = append(approved, q.ID)
		}
	}
	if len(approved) == 0 {
		return nil
	}
	used, err := r.GrantsUsed(approved)
	if err != nil {
		return err
	}
	secret, err := key()
	if err != nil {
		return err
	}
	for i, q := range closed {
		g, ok := q.Grant()
		if !ok || used[q.ID] {
			continue
		}
		a := &rc.Questions[i]
		a.Action, a.Grant = q.Action, g.Sign(secret)
		if len(q.Resolution.Action) > 0 {
			a.Action = q.Resolution.Action
		}
	}
	return nil
}

// mayReadGrants reports whether the caller gets the grants of a task. Only the asker gets them, or the agent that
// works on the task. No caller gets the grant of a question that a workflow run asked, because the run itself does
// what was approved.
func mayReadGrants(r store.Reader, c fermata.Caller, t *fermata.Task) (bool, error) {
	errForbidden := c.CheckPermission(fermata.ToReadGrants, fermata.InTask(t))
	if isOthersSession := t.SessionKey != "" && !isOwnSession(c, t); errForbidden != nil || isOthersSession {
		return false, nil //nolint:nilerr // what the caller may not have is left out
	}
	run, err := parentAskingRun(r, t)
	if err != nil || run != nil {
		return false, err
	}
	return isRecordedHolder(r, c, t)
}

// isRecordedHolder reports whether the events, and not only the tables, show that the agent holds the task or created
// it. It is true for every person, because a person acts by role.
func isRecordedHolder(r store.Reader, c fermata.Caller, t *fermata.Task) (bool, error) {
	if c.Kind != fermata.ActorAgent {
		return true, nil
	}
	eventType := fermata.EventTaskClaimed
	if t.WorkerTokenID == "" {
		eventType = fermata.EventTaskCreated
	}
	events, err := r.Events(store.EventFilter{TaskID: t.ID, Types: []string{string(eventType)}, Newest: true, Limit: 1})
	if err != nil || len(events) == 0 {
		return false, err
	}
	e, facts := events[0], eventFacts(events[0])
	if eventType == fermata.EventTaskCreated {
		return e.Actor.ID == c.TokenID, nil
	}
	_, namesToken := facts["worker_token_id"] // events of earlier versions lack it
	return e.RunID == t.RunID && (!namesToken || facts["worker_token_id"] == c.TokenID || facts["agent_token_id"] == c.TokenID), nil
}

// checkNoRunAsked refuses the grant of a question that a workflow run asked. The run itself does what was approved.
func checkNoRunAsked(r taskGetter, t *fermata.Task) error {
	run, err := askingRun(r, t)
	if err != nil || run == nil {
		return err
	}
	return fermata.Errorf(fermata.CodeForbidden, "the workflow run %s executes the approved action itself: nobody else may use the grant", run.ID).
		WithHint("ask on a task of your own")
}

// grantKey returns the key that signs grants in the caller's workspace. It is for use outside a transaction.
func (e *Engine) grantKey(ctx context.Context, c fermata.Caller) ([]byte, error) {
	key, err := e.reader(ctx, c).GrantKey()
	if err != nil || key != nil {
		return key, err
	}
	err = e.db.Write(ctx, c.WorkspaceID, func(tx *store.Tx) error {
		key, err = tx.GrantKey()
		return err
	})
	return key, err
}

// VerifyGrant checks that an action which is about to run is the approved one,
// and uses the grant up. It refuses a grant that was changed, used or expired,
// that is for another action, or that would not be given at present.
func (e *Engine) VerifyGrant(ctx context.Context, c fermata.Caller, check fermata.GrantCheck) (*fermata.Grant, error) {
	if err := c.CheckPermission(fermata.ToUseGrant, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	if len(check.Action) == 0 || !json.Valid(check.Action) {
		return nil, fermata.Invalid(fermata.Problem{Field: "action", Message: "must be the JSON of what is about to run"})
	}
	return write(ctx, e, c, fermata.ToUseGrant, func(tx *store.Tx) (*fermata.Grant, error) {
		key, err := tx.GrantKey()
		if err != nil {
			return nil, err
		}
		g, err := fermata.OpenGrant(check.Grant, key)
		if err != nil {
			return nil, err
		}
		if err := g.CheckAction(check.Action, tx.Now()); err != nil {
			return nil, err
		}
		if err := e.checkConsent(tx, g); err != nil {
			return nil, err
		}
		if err := checkGrantTask(tx, c, g, check.RunID); err != nil {
			return nil, err
		}
		return &g, useGrant(tx, g, "", c)
	})
}

// checkConsent refuses a grant whose approval does not count at present.
func (e *Engine) checkConsent(tx *store.Tx, g fermata.Grant) error {
	q, err := tx.Question(g.QuestionID)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return fermata.Errorf(fermata.CodeForbidden, "the grant names a question that does not exist").
			WithHint("take it from the context of the resumed task, whole")
	}
	if err != nil {
		return err
	}
	consent, err := e.loadConsent(tx, q)
	if err != nil {
		return err
	}
	return g.CheckConsent(consent)
}

// loadConsent returns the facts that decide whether the grant of a question counts at present.
func (e *Engine) loadConsent(tx *store.Tx, q *fermata.Question) (c fermata.Consent, err error) {
	c.Question, c.Members = q, map[string]*fermata.Member{}
	if c.Policy, err = e.policy(tx.Reader); err != nil {
		return c, err
	}
	for _, id := range q.Approvers() {
		m, err := tx.Member(id)
		if fermata.CodeOf(err) == fermata.CodeNotFound {
			continue
		}
		if err != nil {
			return c, err
		}
		c.Members[id] = m
	}
	record, err := recordOf(tx, q)
	if err != nil {
		return c, err
	}
	c.ChangedField, c.Used = record.differenceFromAsked(q), record.grantUsed
	if c.Signed, err = signedApprovals(tx.Reader, q); err != nil {
		return c, err
	}
	t, err := tx.Task(q.TaskID)
	if err != nil {
		return c, err
	}
	c.Risk, c.DenyRule, err = evaluateGateRules(tx, t, approvedAction(q), c.Policy)
	return c, err
}

// isOutdated reports whether the question has an approval that does not count at present.
func (e *Engine) isOutdated(tx *store.Tx, q *fermata.Question) (bool, error) {
	g, ok := q.Grant()
	if !ok {
		return false, nil
	}
	consent, err := e.loadConsent(tx, q)
	return err == nil && g.CheckConsent(consent) != nil, err
}

// checkGrantTask refuses a grant of a stopped task, or of a project in which the
// caller may not use it.
func checkGrantTask(tx *store.Tx, c fermata.Caller, g fermata.Grant, runID string) error {
	t, err := tx.Task(g.TaskID)
	if err == nil {
		err = c.CheckPermission(fermata.ToUseGrant, fermata.InTask(t))
	}
	if err == nil {
		err = checkNoRunAsked(tx, t)
	}
	if err != nil {
		return err
	}
	run, err := actingRun(tx, t, runID)
	if err != nil {
		return err
	}
	if run == nil || run.TaskID == t.ID {
		return g.CheckTask(t, runID, run, tx.Now())
	}
	// The run uses the grant of another task. Neither of the two tasks may be stopped.
	own, err := tx.Task(run.TaskID)
	if err == nil && c.CheckPermission(fermata.ToUseGrant, fermata.InTask(own)) != nil {
		// The caller must not learn more about this run than about an unknown one.
		own, run = t, nil
	}
	if err == nil {
		err = g.CheckTask(own, runID, run, tx.Now())
	}
	if err != nil {
		return err
	}
	last, err := actingRun(tx, t, "")
	if err != nil {
		return err
	}
	return g.CheckTask(t, "", last, tx.Now())
}

// useGrant records that a grant was used. It refuses a grant that was used before.
func useGrant(tx *store.Tx, g fermata.Grant, callID string, c fermata.Caller) error {
	used, err := tx.GrantsUsed([]string{g.QuestionID})
	if err != nil {
		return err
	}
	if used[g.QuestionID] {
		return fermata.GrantUsedError(g.QuestionID)
	}
	tx.UseGrant(g.QuestionID, callID, c.Actor())
	tx.Append(&fermata.Event{
		Type: fermata.EventGrantUsed, TaskID: g.TaskID, QuestionID: g.QuestionID, Actor: c.Actor(),
		Data: encodeData(grantUsedData{g.ActionHash, callID}),
	})
	return nil
}

// grantUsedData is the data of the event grant.used.
type grantUsedData struct {
	ActionHash string `json:"action_hash"`
	CallID     string `json:"call_id,omitempty"`
}

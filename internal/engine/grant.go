package engine

import (
	"context"
	"encoding/json"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// addGrants puts the consent to what was approved into a context. The closed
// questions are those of the context, in its order.
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

// grantKey returns the key of the caller's workspace outside a transaction.
func (e *Engine) grantKey(ctx context.Context, c fermata.Caller) ([]byte, error) {
	key, err := e.reads(ctx, c).GrantKey()
	if err != nil || key != nil {
		return key, err
	}
	err = e.db.Write(ctx, c.WorkspaceID, func(tx *store.Tx) error {
		key, err = tx.GrantKey()
		return err
	})
	return key, err
}

// VerifyGrant checks that what is about to run is what was approved, and uses
// the grant up. It refuses a grant that was changed, used, is expired, or is
// for anything else.
func (e *Engine) VerifyGrant(ctx context.Context, c fermata.Caller, check fermata.GrantCheck) (*fermata.Grant, error) {
	if err := require(c, fermata.ScopeAsk, fermata.ScopeWork); err != nil {
		return nil, err
	}
	if len(check.Action) == 0 || !json.Valid(check.Action) {
		return nil, fermata.Invalid(fermata.Problem{Field: "action", Message: "must be the JSON of what is about to run"})
	}
	return write(ctx, e, c, func(tx *store.Tx) (*fermata.Grant, error) {
		key, err := tx.GrantKey()
		if err != nil {
			return nil, err
		}
		g, err := fermata.OpenGrant(check.Grant, key)
		if err != nil {
			return nil, err
		}
		if err := g.Covers(fermata.HashAction(check.Action), tx.Now()); err != nil {
			return nil, err
		}
		return &g, useGrant(tx, g, "", c)
	})
}

// useGrant notes that a grant was used. One that was used before is refused.
func useGrant(tx *store.Tx, g fermata.Grant, callID string, c fermata.Caller) error {
	used, err := tx.GrantsUsed([]string{g.QuestionID})
	if err != nil {
		return err
	}
	if used[g.QuestionID] {
		return fermata.Errorf(fermata.CodeForbidden, "the grant of %s was used already; it is good for one run", g.QuestionID).
			WithHint("ask again")
	}
	tx.UseGrant(g.QuestionID, callID, c.Actor())
	tx.Append(&fermata.Event{
		Type: fermata.EventGrantUsed, TaskID: g.TaskID, QuestionID: g.QuestionID, Actor: c.Actor(),
		Data: data(grantUse{g.ActionHash, callID}),
	})
	return nil
}

// grantUse is the data of grant.used.
type grantUse struct {
	ActionHash string `json:"action_hash"`
	CallID     string `json:"call_id,omitempty"`
}

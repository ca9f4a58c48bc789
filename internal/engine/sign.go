package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/passkey"
	"github.com/fermata-hq/fermata/internal/store"
)

// PrepareDecision returns the decision that the caller's passkey must sign to give the answer. It changes nothing. It
// refuses an answer by the rules of the question, as [Engine.Answer] does. Only [Engine.Answer] also checks an edited
// action against the gate rules, and the question against its events.
func (e *Engine) PrepareDecision(ctx context.Context, c fermata.Caller, id string, a fermata.Answer) (fermata.Decision, error) {
	if err := c.CheckPermission(fermata.ToAnswer, fermata.UnloadedResource); err != nil {
		return fermata.Decision{}, err
	}
	q, err := e.Question(ctx, c, id)
	if err != nil {
		return fermata.Decision{}, err
	}
	now, err := e.db.Now(ctx)
	if err != nil {
		return fermata.Decision{}, err
	}
	return q.PrepareDecision(a, c, now)
}

// usePasskey refuses a signature by a passkey that the caller does not have, or has removed. It records the use of
// the passkey.
func usePasskey(tx *store.Tx, c fermata.Caller, s *fermata.SignedDecision) error {
	if s == nil {
		return nil
	}
	p, err := tx.Passkey(s.PasskeyID)
	if err != nil {
		return err
	}
	if p.MemberID != c.MemberID {
		return fermata.NotFound("passkey", s.PasskeyID)
	}
	now := tx.Now()
	p.LastUsedAt = &now
	tx.UpdatePasskey(p)
	return nil
}

// signedApprovals returns the ids of the members whose passkeys signed their approval of the question.
func signedApprovals(r store.Reader, q *fermata.Question) (map[string]bool, error) {
	signed := map[string]bool{}
	for _, id := range q.Approvers() {
		if q.CheckSigned(id) != nil {
			continue
		}
		decision := q.SignedDecisionOf(id)
		key, err := registeredKey(r, decision.PasskeyID, id)
		if err != nil {
			return nil, err
		}
		signed[id] = passkey.Verify(*decision, key) == nil
	}
	return signed, nil
}

// keySearchWindow is the number of events after the creation of a passkey that are searched first for the event that
// registered it.
const keySearchWindow = 1000

// registeredKey returns the public key of a member's passkey, as recorded in the event that registered it. It returns
// "" if the member has no such passkey, or has removed it.
func registeredKey(r store.Reader, passkeyID, memberID string) (string, error) {
	p, err := r.Passkey(passkeyID)
	if fermata.CodeOf(err) == fermata.CodeNotFound || err == nil && p.MemberID != memberID {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	first, err := r.SeqAt(p.CreatedAt)
	if err != nil {
		return "", err
	}
	added, err := passkeyAddedEvent(r, p, first-1, first+keySearchWindow)
	if err == nil && added == nil {
		// The clock was set back around that time, so search all events.
		added, err = passkeyAddedEvent(r, p, 0, 0)
	}
	if err != nil || added == nil || added.Actor.ID != memberID {
		return "", err
	}
	return publicKeyOf(added, p), nil
}

// passkeyAddedEvent returns the event that registered the passkey, or nil if the event is not between the two numbers.
func passkeyAddedEvent(r store.Reader, p *fermata.Passkey, after, before int64) (*fermata.Event, error) {
	events, err := r.Events(store.EventFilter{
		After: after, Before: before, Types: []string{string(fermata.EventPasskeyAdded)}, Text: p.ID, Limit: 1,
	})
	if err != nil || len(events) == 0 || textOf(eventFacts(events[0]), "passkey_id") != p.ID {
		return nil, err
	}
	return events[0], nil
}

// publicKeyOf returns the public key that an event registered. Older events do not contain the key; then it returns the
// stored key of the passkey.
func publicKeyOf(added *fermata.Event, p *fermata.Passkey) string {
	own, _ := passkeyFacts(p)["public_key"].(string)
	return cmp.Or(textOf(eventFacts(added), "public_key"), own)
}

// signedEventTypes are the types of the events that may hold a signature.
var signedEventTypes = []fermata.EventType{fermata.EventQuestionAnswered, fermata.EventQuestionVoteCast, fermata.EventQuestionAnsweredLate}

// checkSigned verifies the signature in an event with the key that an earlier event registered.
func (v *verification) checkSigned(e *fermata.Event) error {
	if !slices.Contains(signedEventTypes, e.Type) {
		return nil
	}
	var facts struct {
		Signed *fermata.SignedDecision `json:"signed"`
	}
	if err := json.Unmarshal(e.Data, &facts); err != nil || facts.Signed == nil {
		return nil //nolint:nilerr // data that is no object has no signature
	}
	var d fermata.Decision
	if err := json.Unmarshal([]byte(facts.Signed.Decision), &d); err != nil {
		return v.reportProblem("event %d holds a signed decision that cannot be read", e.Seq)
	}
	added := v.recorded.passkeys[facts.Signed.PasskeyID]
	if added == nil || added.Actor.ID != d.MemberID || d.QuestionID != e.QuestionID {
		return v.reportProblem("event %d is signed with a passkey that was not the person's, or for another question", e.Seq)
	}
	key := textOf(eventFacts(added), "public_key")
	if key == "" {
		p, err := v.r.Passkey(facts.Signed.PasskeyID)
		if fermata.CodeOf(err) == fermata.CodeNotFound {
			// The event is older than public keys in events, and the passkey was removed since, so no key is left to
			// verify with.
			return nil
		}
		if err != nil {
			return err
		}
		key = publicKeyOf(added, p)
	}
	if err := passkey.Verify(*facts.Signed, key); err != nil {
		return v.reportProblem("event %d: %v", e.Seq, err)
	}
	v.report.Signed++
	return nil
}

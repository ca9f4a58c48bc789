package engine

import (
	"context"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// Receipt returns the signed receipt of a closed question: what was asked, how it ended and who decided.
func (e *Engine) Receipt(ctx context.Context, c fermata.Caller, id string) (signed fermata.SignedReceipt, err error) {
	q, err := e.Question(ctx, c, id)
	if err != nil {
		return signed, err
	}
	if e.opts.Signer == nil {
		return signed, fermata.Errorf(fermata.CodeUnavailable, "this server has no key to sign receipts with")
	}
	now, err := e.db.Now(ctx)
	if err != nil {
		return signed, err
	}
	r, err := q.Receipt(now)
	if err != nil {
		return signed, err
	}
	if err := addEvents(e.reads(ctx, c), q, &r); err != nil {
		return signed, err
	}
	// What the keys are is told to everybody who sees the question.
	all := e.db.In(ctx, c.WorkspaceID)
	r.PublicKeys = map[string]string{}
	for _, member := range q.Signers() {
		passkey := q.SignedBy(member).PasskeyID
		key, err := registeredKey(all, passkey, member)
		if err != nil {
			return signed, err
		}
		if key != "" {
			r.PublicKeys[passkey] = key
		}
	}
	return e.opts.Signer.SignReceipt(r)
}

// addEvents notes in a receipt which events opened and closed the question.
func addEvents(r store.Reader, q *fermata.Question, receipt *fermata.DecisionReceipt) error {
	types := []string{string(fermata.EventQuestionAsked)}
	for _, t := range closingEvents {
		types = append(types, string(t))
	}
	events, err := r.Events(store.EventFilter{TaskID: q.TaskID, Types: types, Text: q.ID, Limit: exportPage})
	if err != nil {
		return err
	}
	for _, event := range events {
		switch {
		case event.QuestionID != q.ID:
		case event.Type == fermata.EventQuestionAsked:
			receipt.AskedEvent = event.Seq
		case slices.Contains(closingEvents, event.Type):
			receipt.ClosedEvent, receipt.ClosedHash = event.Seq, event.Hash
		}
	}
	return nil
}

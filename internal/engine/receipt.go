package engine

import (
	"context"
	"slices"

	"github.com/fermata-hq/fermata"
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
	record, events, err := recordOf(e.reads(ctx, c), q, nil)
	if err != nil {
		return signed, err
	}
	if changed := record.changed(q); changed != "" {
		return signed, fermata.ChangedInDatabase(changed)
	}
	addEvents(&r, events)
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
func addEvents(receipt *fermata.DecisionReceipt, events []*fermata.Event) {
	for _, event := range events {
		switch {
		case event.Type == fermata.EventQuestionAsked:
			receipt.AskedEvent = event.Seq
		case slices.Contains(closingEvents, event.Type):
			receipt.ClosedEvent, receipt.ClosedHash = event.Seq, event.Hash
		}
	}
}

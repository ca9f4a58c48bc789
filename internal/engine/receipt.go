package engine

import (
	"context"

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
	record, err := checkedRecord(e.reader(ctx, c), q)
	if err != nil {
		return signed, err
	}
	r.AskedEvent, r.ClosedEvent, r.ClosedHash = record.opening.Seq, record.closing.Seq, record.closing.Hash
	// Everybody who sees the question may know the public keys, so they are read without the caller's limits.
	all := e.db.Reader(ctx, c.WorkspaceID)
	r.PublicKeys = map[string]string{}
	for _, member := range q.Signers() {
		passkey := q.SignedDecisionOf(member).PasskeyID
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

package passkey

import (
	"fmt"

	"github.com/fermata-hq/fermata"
)

// VerifyReceipt checks what a receipt says by itself: that the hash is the action's, and that each passkey signed what the
// receipt says of its owner. The server's signature of the receipt is checked before.
func VerifyReceipt(r fermata.DecisionReceipt) error {
	if len(r.Action) > 0 && !fermata.HasHash(r.Action, r.ActionHash) {
		return fmt.Errorf("the action does not have the hash %s", r.ActionHash)
	}
	q := r.Question()
	for _, member := range q.Signers() {
		if err := q.CheckSigned(member); err != nil {
			return err
		}
		signed := q.SignedDecisionOf(member)
		key := r.PublicKeys[signed.PasskeyID]
		if key == "" {
			return fmt.Errorf("the public key of the passkey %s is not in the receipt: the passkey was removed before the receipt was made", signed.PasskeyID)
		}
		if err := Verify(*signed, key); err != nil {
			return err
		}
	}
	return nil
}

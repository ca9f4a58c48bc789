package checkpoint

import (
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/fermata-hq/fermata"
)

// SignReceipt returns the receipt with its signature.
func (s *Signer) SignReceipt(r fermata.DecisionReceipt) (fermata.SignedReceipt, error) {
	text, err := r.Text()
	if err != nil {
		return fermata.SignedReceipt{}, err
	}
	signed, err := note.Sign(&note.Note{Text: text}, noteSigner{s})
	return fermata.SignedReceipt{Receipt: r, Note: string(signed)}, err
}

// OpenReceipt verifies that the public key signed the note, and returns the receipt in it.
func OpenReceipt(signed []byte, publicKey string) (r fermata.DecisionReceipt, err error) {
	v, err := NewVerifier(publicKey)
	if err != nil {
		return r, err
	}
	opened, err := note.Open(signed, note.VerifierList(v.public))
	if err != nil {
		return r, fmt.Errorf("the receipt is not signed with the key %s+%08x: %w", v.public.Name(), v.public.KeyHash(), err)
	}
	title, data, _ := strings.Cut(opened.Text, "\n")
	if err := json.Unmarshal([]byte(data), &r); err != nil || title != fermata.ReceiptTitle || r.Resolution == nil {
		return r, fmt.Errorf("the note is signed with the key, and is no receipt")
	}
	return r, nil
}

package checkpoint

import (
	"fmt"

	"golang.org/x/mod/sumdb/note"

	"github.com/fermata-hq/fermata"
)

// SignRange returns the trimmed range with its signature.
func (s *Signer) SignRange(r fermata.TrimmedRange) (fermata.SignedTrimmedRange, error) {
	signed, err := note.Sign(&note.Note{Text: r.Text()}, noteSigner{s})
	return fermata.SignedTrimmedRange{TrimmedRange: r, Note: string(signed)}, err
}

// VerifyRange returns an error if this key did not sign the trimmed range, or the range was changed.
func (s *Signer) VerifyRange(r fermata.SignedTrimmedRange) error { return checkRange(r, s.verifier) }

// VerifyRange returns an error if the public key did not sign the trimmed range, or the range was changed.
func VerifyRange(r fermata.SignedTrimmedRange, publicKey string) error {
	public, err := verifier(publicKey)
	if err != nil {
		return err
	}
	return checkRange(r, public)
}

func checkRange(r fermata.SignedTrimmedRange, public note.Verifier) error {
	return checkNote(r.Note, r.Text(), fmt.Sprintf("the trimmed range from event %d to %d", r.First, r.Last), public)
}

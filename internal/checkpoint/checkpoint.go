// Package checkpoint signs checkpoints and trimmed ranges of the audit chain and receipts of decisions, and verifies their
// signatures. All are signed notes (C2SP signed-note), so that other tools can verify them, too.
package checkpoint

import (
	"crypto/ed25519"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/fermata-hq/fermata"
)

// keyName is the name of the key in a note and in the text of the public key.
const keyName = "fermata-audit"

// PrivateKey signs messages with Ed25519 (RFC 8032).
type PrivateKey interface {
	PublicKey() ed25519.PublicKey
	Sign(message []byte) []byte
}

// Verifier verifies what a server signed, with the public key of that server.
type Verifier struct{ public note.Verifier }

// NewVerifier returns a verifier for a public key, as [Signer.PublicKey] returns it.
func NewVerifier(publicKey string) (*Verifier, error) {
	public, err := note.NewVerifier(strings.TrimSpace(publicKey))
	if err != nil {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "%q is no public key of the audit: %v", publicKey, err).
			WithHint("'fermata audit verify' prints it")
	}
	return &Verifier{public}, nil
}

// Verify returns an error if this key did not sign the checkpoint, or the checkpoint was changed.
func (v *Verifier) Verify(c fermata.SignedCheckpoint) error {
	return v.checkNote(c.Note, c.Text(), fmt.Sprintf("the checkpoint at event %d", c.Seq))
}

// VerifyRange returns an error if this key did not sign the trimmed range, or the range was changed.
func (v *Verifier) VerifyRange(r fermata.SignedTrimmedRange) error {
	return v.checkNote(r.Note, r.Text(), fmt.Sprintf("the trimmed range from event %d to %d", r.First, r.Last))
}

// Signer signs checkpoints, trimmed ranges and receipts with one key, and verifies its signatures.
type Signer struct {
	*Verifier
	key       PrivateKey
	publicKey string
}

// NewSigner returns a signer with the key.
func NewSigner(private PrivateKey) (*Signer, error) {
	text, err := note.NewEd25519VerifierKey(keyName, private.PublicKey())
	if err != nil {
		return nil, err
	}
	v, err := NewVerifier(text)
	return &Signer{v, private, text}, err
}

// PublicKey returns the key that verifies the signatures, as text.
func (s *Signer) PublicKey() string { return s.publicKey }

// Sign returns the checkpoint with its signature.
func (s *Signer) Sign(c fermata.Checkpoint) (fermata.SignedCheckpoint, error) {
	signed, err := note.Sign(&note.Note{Text: c.Text()}, noteSigner{s})
	return fermata.SignedCheckpoint{Checkpoint: c, Note: string(signed)}, err
}

// SignRange returns the trimmed range with its signature.
func (s *Signer) SignRange(r fermata.TrimmedRange) (fermata.SignedTrimmedRange, error) {
	signed, err := note.Sign(&note.Note{Text: r.Text()}, noteSigner{s})
	return fermata.SignedTrimmedRange{TrimmedRange: r, Note: string(signed)}, err
}

// checkNote returns an error if a note is not signed with the key, or is for another text. name names what it signs.
func (v *Verifier) checkNote(signed, text, name string) error {
	opened, err := note.Open([]byte(signed), note.VerifierList(v.public))
	if err != nil {
		return fmt.Errorf("%s is not signed with the key %s+%08x: %w", name, v.public.Name(), v.public.KeyHash(), err)
	}
	if opened.Text != text {
		return fmt.Errorf("%s was changed: its signature is for another text", name)
	}
	return nil
}

// noteSigner is a [note.Signer] for the key.
type noteSigner struct{ s *Signer }

func (n noteSigner) Name() string                        { return n.s.public.Name() }
func (n noteSigner) KeyHash() uint32                     { return n.s.public.KeyHash() }
func (n noteSigner) Sign(message []byte) ([]byte, error) { return n.s.key.Sign(message), nil }

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

// Signer signs checkpoints with one key.
type Signer struct {
	key       PrivateKey
	verifier  note.Verifier
	publicKey string
}

// NewSigner returns a signer with the key.
func NewSigner(private PrivateKey) (*Signer, error) {
	text, err := note.NewEd25519VerifierKey(keyName, private.PublicKey())
	if err != nil {
		return nil, err
	}
	public, err := note.NewVerifier(text)
	if err != nil {
		return nil, err
	}
	return &Signer{private, public, text}, nil
}

// PublicKey returns the key that verifies the signatures, in the form that [Verify] takes.
func (s *Signer) PublicKey() string { return s.publicKey }

// Sign returns the checkpoint with its signature.
func (s *Signer) Sign(c fermata.Checkpoint) (fermata.SignedCheckpoint, error) {
	signed, err := note.Sign(&note.Note{Text: c.Text()}, noteSigner{s})
	return fermata.SignedCheckpoint{Checkpoint: c, Note: string(signed)}, err
}

// Verify returns an error if this key did not sign the checkpoint, or the checkpoint was changed.
func (s *Signer) Verify(c fermata.SignedCheckpoint) error { return check(c, s.verifier) }

// Verify returns an error if the public key did not sign the checkpoint, or the checkpoint was changed.
func Verify(c fermata.SignedCheckpoint, publicKey string) error {
	public, err := verifier(publicKey)
	if err != nil {
		return err
	}
	return check(c, public)
}

func verifier(publicKey string) (note.Verifier, error) {
	public, err := note.NewVerifier(strings.TrimSpace(publicKey))
	if err != nil {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "%q is no public key of the audit: %v", publicKey, err).
			WithHint("'fermata audit verify' prints it")
	}
	return public, nil
}

func check(c fermata.SignedCheckpoint, public note.Verifier) error {
	return checkNote(c.Note, c.Text(), fmt.Sprintf("the checkpoint at event %d", c.Seq), public)
}

// checkNote returns an error if a note is not signed with the key, or is for another text. name names what it signs.
func checkNote(signed, text, name string, public note.Verifier) error {
	opened, err := note.Open([]byte(signed), note.VerifierList(public))
	if err != nil {
		return fmt.Errorf("%s is not signed with the key %s+%08x: %w", name, public.Name(), public.KeyHash(), err)
	}
	if opened.Text != text {
		return fmt.Errorf("%s was changed: its signature is for another text", name)
	}
	return nil
}

// noteSigner is a [note.Signer] for the key.
type noteSigner struct{ s *Signer }

func (n noteSigner) Name() string                        { return n.s.verifier.Name() }
func (n noteSigner) KeyHash() uint32                     { return n.s.verifier.KeyHash() }
func (n noteSigner) Sign(message []byte) ([]byte, error) { return n.s.key.Sign(message), nil }

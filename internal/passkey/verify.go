// Package passkey checks what passkeys signed. It needs neither a server nor a database.
package passkey

import (
	"encoding/base64"
	"fmt"

	"github.com/go-webauthn/webauthn/protocol"

	"github.com/fermata-hq/fermata"
)

// Verify checks that a passkey signed the decision, and that its device knew the person by a finger, a face or a PIN
// (WebAuthn Level 3, 7.2). The public key is that of the passkey, as the event passkey.added has it: a COSE key in base64.
// Verify does not check on which page of the server the person was: the server did that before it took the answer.
func Verify(s fermata.SignedDecision, publicKey string) error {
	key, err := base64.StdEncoding.DecodeString(publicKey)
	if err != nil || len(key) == 0 {
		return fmt.Errorf("%q is no public key of a passkey", publicKey)
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(s.Credential)
	if err != nil {
		return fmt.Errorf("read what the passkey signed: %w", err)
	}
	challenge := base64.RawURLEncoding.EncodeToString(s.Challenge())
	origins := []string{parsed.Response.CollectedClientData.Origin}
	err = parsed.Verify(challenge, s.RelyingParty, "", origins, nil, nil, protocol.TopOriginExplicitVerificationMode, false, true, true, key,
		protocol.SignaturePolicy{})
	if err != nil {
		return fmt.Errorf("the passkey did not sign this decision: %w", err)
	}
	return nil
}

package access

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/fermata-hq/fermata"
)

// BeginSignature returns the options for navigator.credentials.get with which the caller signs a decision. It stores
// nothing, because the decision itself says who may use it, for what and for how long.
func (p *Passkeys) BeginSignature(ctx context.Context, c fermata.Caller, decision string) (json.RawMessage, error) {
	if err := c.CheckPermission(fermata.ToAnswer, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	user, err := p.owner(ctx, c.MemberID)
	if err != nil {
		return nil, err
	}
	if len(user.keys) == 0 {
		return nil, fermata.Errorf(fermata.CodeNotEligible, "an answer to this question is signed with a passkey, and you have none").
			WithHint("add a passkey under Settings, then answer again")
	}
	signed := fermata.SignedDecision{Decision: decision}
	assertion, _, err := p.wa.BeginLogin(user, func(o *protocol.PublicKeyCredentialRequestOptions) error {
		o.Challenge, o.UserVerification = signed.Challenge(), protocol.VerificationRequired
		return nil
	})
	if err != nil {
		return nil, fermata.Internal("begin to sign a decision", err)
	}
	options, err := json.Marshal(assertion)
	if err != nil {
		return nil, fermata.Internal("write the options of a passkey", err)
	}
	return options, nil
}

// CheckSignature returns the decision that the caller signed. It first checks that a passkey of the caller signed it
// on a page of this server. It does not check that the decision fits the answer: [fermata.Question.ApplyAnswer] does.
func (p *Passkeys) CheckSignature(ctx context.Context, c fermata.Caller, s *fermata.AnswerSignature) (*fermata.SignedDecision, error) {
	if err := c.CheckPermission(fermata.ToAnswer, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	user, err := p.owner(ctx, c.MemberID)
	if err != nil {
		return nil, err
	}
	var credential bytes.Buffer
	if err := json.Compact(&credential, s.Credential); err != nil {
		return nil, badSignatureError(err)
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(credential.Bytes())
	if err != nil {
		return nil, badSignatureError(err)
	}
	signed := &fermata.SignedDecision{Decision: s.Decision, RelyingParty: p.Host(), Credential: credential.Bytes()}
	used, err := p.wa.ValidateLogin(user, webauthn.SessionData{
		Challenge: base64.RawURLEncoding.EncodeToString(signed.Challenge()), UserID: user.WebAuthnID(), UserVerification: protocol.VerificationRequired,
	}, parsed)
	if err != nil {
		return nil, badSignatureError(err)
	}
	// The counter of the passkey is compared with that of the last sign-in, but not stored, because the same answer
	// may come twice if a connection broke.
	if signed.PasskeyID, _, err = user.usedCredential(used); err != nil {
		return nil, badSignatureError(err)
	}
	return signed, nil
}

func badSignatureError(err error) error {
	return withCause(fermata.Invalid(fermata.Problem{Field: "signature", Message: "is not that of a passkey of yours, for this decision, on a page of this server"}).
		WithHint("sign the answer again"), err)
}

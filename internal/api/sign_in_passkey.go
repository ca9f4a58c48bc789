package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// passkeyOptions begins a passkey ceremony in the browser.
type passkeyOptions struct {
	SetCookie []string `header:"Set-Cookie"`
	Body      struct {
		Options json.RawMessage `json:"options" doc:"for navigator.credentials: publicKey in the form of PublicKeyCredential.parse…FromJSON"`
	}
}

// passkeyCredential ends a passkey ceremony.
type passkeyCredential struct {
	Credential json.RawMessage `json:"credential" doc:"what navigator.credentials gave, in the form of PublicKeyCredential.toJSON"`
}

// newPasskey ends the ceremony that adds a passkey.
type newPasskey struct {
	Name       string          `json:"name,omitempty" maxLength:"100" doc:"by which you know it"`
	Credential json.RawMessage `json:"credential" doc:"what navigator.credentials gave, in the form of PublicKeyCredential.toJSON"`
}

func (s *Server) registerPasskeys() {
	e := s.Engine
	addOpenOperation(s, operation("POST /sign-in/passkey/start", "begin-passkey", "Begin to sign in with a passkey"), s.beginPasskey)
	addOpenOperation(s, operation("POST /sign-in/passkey/finish", "end-passkey", "Sign in with a passkey"), s.endPasskey)
	addOperation(s, operation("POST /passkeys/start", "begin-add-passkey", "Begin to add a passkey"),
		func(ctx context.Context, c fermata.Caller, _ *bodyInput[*nothing]) (*passkeyOptions, error) {
			if s.Passkeys == nil {
				return nil, noPasskeysError()
			}
			options, secret, err := s.Passkeys.BeginRegistration(ctx, c)
			return passkeyReply(options, secret, err)
		})
	addOperation(s, withStatusCreated(operation("POST /passkeys/finish", "end-add-passkey", "Add a passkey")),
		func(ctx context.Context, c fermata.Caller, in *struct {
			Flow string `cookie:"__Host-fermata-flow"`
			Body newPasskey
		}) (*reply[*fermata.Passkey], error) {
			if s.Passkeys == nil {
				return nil, noPasskeysError()
			}
			return replyOf(s.Passkeys.EndRegistration(ctx, c, in.Flow, in.Body.Name, in.Body.Credential))
		})
	addOperation(s, operation("GET /passkeys", "list-passkeys", "List your passkeys"),
		func(ctx context.Context, c fermata.Caller, _ *struct{}) (*reply[page[*fermata.Passkey]], error) {
			return listOf(e.Passkeys(ctx, c))
		})
	addOperation(s, operation("DELETE /passkeys/{id}", "remove-passkey", "Remove a passkey"),
		func(ctx context.Context, c fermata.Caller, in *IDInput) (*empty, error) {
			return emptyOf(e.RemovePasskey(ctx, c, in.ID))
		})
}

// hasPasskeysAt reports whether passkeys work for a page at the request's host.
func (s *Server) hasPasskeysAt(r *http.Request) bool {
	return s.Passkeys != nil && hostname(r.Host) == s.Passkeys.Host()
}

func noPasskeysError() error {
	return fermata.Errorf(fermata.CodePolicyViolation, "passkeys do not work at this address").
		WithHint("they need a name and https; on this machine open http://localhost instead of an address")
}

func passkeyReply(options json.RawMessage, secret string, err error) (*passkeyOptions, error) {
	if err != nil {
		return nil, err
	}
	out := &passkeyOptions{SetCookie: []string{cookie(flowCookie, secret, engine.FlowTimeout)}}
	out.Body.Options = options
	return out, nil
}

func (s *Server) beginPasskey(ctx context.Context, _ *bodyInput[*nothing]) (*passkeyOptions, error) {
	r := requestOf(ctx)
	if !s.hasPasskeysAt(r) {
		return nil, noPasskeysError()
	}
	if err := s.limitSignIn(r); err != nil {
		return nil, err
	}
	options, secret, err := s.Passkeys.BeginSignIn(ctx)
	return passkeyReply(options, secret, err)
}

func (s *Server) endPasskey(ctx context.Context, in *bodyInput[passkeyCredential]) (*signedIn, error) {
	r := requestOf(ctx)
	if !s.hasPasskeysAt(r) {
		return nil, noPasskeysError()
	}
	session, err := s.Passkeys.EndSignIn(ctx, cookieValue(r, flowCookie), in.Body.Credential, browserOf(r))
	if err != nil {
		s.Log.WarnContext(ctx, "a sign-in with a passkey failed", "error", err)
	}
	return s.replySignedIn(ctx, session, err)
}

package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// signInPath is the path below which requests need no caller, because they sign
// a person in.
const signInPath = "/v1/sign-in/"

// Mailer sends links to people. Its calls return at once.
type Mailer interface {
	// SendSignIn sends a sign-in link to the member with the address, if there
	// is one.
	SendSignIn(email string)
	// SendInvitation sends the link of an invitation.
	SendInvitation(i *fermata.Invitation)
}

// signInMethods lists the ways to sign in to this server.
type signInMethods struct {
	SingleUser bool `json:"single_user" doc:"everybody who reaches the server from this machine is the one user"`
	Link       bool `json:"link" doc:"one-time links and invitations"`
	Email      bool `json:"email" doc:"a link by mail"`
	Passkey    bool `json:"passkey"`
	// OIDC is the identity provider.
	OIDC *oidcMethod `json:"oidc,omitempty" doc:"the identity provider; absent where there is none"`
}

type oidcMethod struct {
	Name string `json:"name" doc:"what the button says"`
}

// signedIn is the reply that gives a browser its session.
type signedIn struct {
	SetCookie []string `header:"Set-Cookie"`
	Body      whoami
}

// linkToken is the secret of a sign-in link.
type linkToken struct {
	Token string `json:"token" minLength:"1" maxLength:"100" doc:"what stands behind # in the link"`
}

func (s *Server) registerSignIn() {
	addOpenOperation(s, operation("GET /sign-in/methods", "list-sign-in-methods", "List the ways to sign in"), s.listSignInMethods)
	addOpenOperation(s, operation("POST /sign-in/link", "sign-in-by-link", "Sign in with a one-time link, an invitation or a link from a mail"), s.signInByLink)
	email := operation("POST /sign-in/email", "sign-in-by-email", "Ask for a sign-in link by mail; the reply does not tell whether the address is known")
	email.DefaultStatus = http.StatusAccepted
	addOpenOperation(s, email, s.signInByEmail)
}

func (s *Server) signInByLink(ctx context.Context, in *bodyInput[linkToken]) (*signedIn, error) {
	r := requestOf(ctx)
	if err := s.checkCookieSafety(r); err != nil {
		return nil, err
	}
	session, err := s.Engine.SignInByLink(ctx, in.Body.Token, browserOf(r))
	return s.replySignedIn(ctx, session, s.limitWrongSecrets(r, err, "too many wrong links came from this address"))
}

// mailAddress is the address to which a sign-in link is sent.
type mailAddress struct {
	Email string `json:"email" minLength:"3" maxLength:"254"`
}

// accepted is the reply of a call that does not reveal its outcome: 202.
type accepted struct{}

// signInByEmail replies in the same way and equally fast for every address.
// Whether the address belongs to a member is checked later.
func (s *Server) signInByEmail(ctx context.Context, in *bodyInput[mailAddress]) (*accepted, error) {
	if s.Mail == nil {
		return nil, fermata.Errorf(fermata.CodePolicyViolation, "this server sends no mail").WithHint("an admin sets it up with --smtp, or gives you a link")
	}
	if err := s.limitSignIn(requestOf(ctx)); err != nil {
		return nil, err
	}
	email := fermata.CanonicalEmail(in.Body.Email)
	if email == "" {
		return nil, fermata.Invalid(fermata.Problem{Field: "email", Message: "is no e-mail address"})
	}
	s.Mail.SendSignIn(email)
	return &accepted{}, nil
}

// addOpenOperation registers a call that needs no caller.
func addOpenOperation[I, O any](s *Server, op huma.Operation, h func(context.Context, *I) (*O, error)) {
	op.Security = []map[string][]string{{}}
	op.Parameters = nil
	addOperation(s, op, func(ctx context.Context, _ fermata.Caller, in *I) (*O, error) { return h(ctx, in) })
}

func (s *Server) listSignInMethods(ctx context.Context, _ *struct{}) (*reply[signInMethods], error) {
	m := signInMethods{SingleUser: s.SingleUser, Link: true, Email: s.Mail != nil, Passkey: s.hasPasskeysAt(requestOf(ctx))}
	if s.OIDC != nil {
		m.OIDC = &oidcMethod{s.OIDC.DisplayName()}
	}
	return replyOf(m, nil)
}

// replySignedIn returns the session to the browser.
func (s *Server) replySignedIn(ctx context.Context, in *engine.IssuedSession, err error) (*signedIn, error) {
	if err != nil {
		return nil, err
	}
	me, err := s.describeCaller(ctx, in.Caller)
	if err != nil {
		return nil, err
	}
	return &signedIn{SetCookie: []string{cookie(sessionCookie, in.Secret, fermata.SessionLifetime)}, Body: me}, nil
}

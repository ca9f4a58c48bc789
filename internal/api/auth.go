package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

type callerKey struct{}

// withCaller passes the caller to the route.
func withCaller(r *http.Request, c *fermata.Caller) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
}

// callerOf returns the caller of the request. If there is none, it returns the zero caller, which has no rights.
func callerOf(ctx context.Context) fermata.Caller {
	if c, ok := ctx.Value(callerKey{}).(*fermata.Caller); ok {
		return *c
	}
	return fermata.Caller{}
}

type requestKey struct{}

// withRequest passes the request itself to a route for signing in.
func withRequest(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), requestKey{}, r))
}

// requestOf returns the request of a route for signing in.
func requestOf(ctx context.Context) *http.Request {
	r, _ := ctx.Value(requestKey{}).(*http.Request)
	return r
}

// CallerOf returns the caller of a request that reached a [Mount].
func CallerOf(ctx context.Context) fermata.Caller { return callerOf(ctx) }

// caller returns the caller of a request: from the token, from the browser's session, or the local user of a
// single-user server.
func (s *Server) caller(r *http.Request) (*fermata.Caller, error) {
	secret, err := bearerToken(r)
	if err != nil {
		return nil, err
	}
	if secret == "" {
		return s.callerWithoutToken(r)
	}
	c, err := s.Engine.Authenticate(r.Context(), secret)
	if err != nil && s.SingleUser && isLocal(r) {
		err = withSingleUserHint(err)
	}
	if err != nil {
		return nil, s.limitWrongSecrets(r, err, "too many requests with a wrong token came from this address")
	}
	return &c, nil
}

// withSingleUserHint adds to the refusal of a token that this server needs none. The token may be of another server that
// was at the same address before. It is refused all the same: it may be an agent's, which must not count as the person.
func withSingleUserHint(err error) error {
	refusal, ok := errors.AsType[*fermata.Error](err)
	if !ok || refusal.Code != fermata.CodeUnauthenticated {
		return err
	}
	return fermata.Errorf(refusal.Code, "%s", refusal.Message).
		WithHint("this server runs with --single-user and needs no token: remove the stored one (fermata logout), or unset FERMATA_TOKEN")
}

// renewal returns the function that authenticates the caller of a waiting request again. It is nil in single-user
// mode, where the caller does not change.
func (s *Server) renewal(r *http.Request, c *fermata.Caller) engine.Renewal {
	switch {
	case c.TokenID != "":
		secret, _ := bearerToken(r) // the request was authenticated with this token
		return func(ctx context.Context) (fermata.Caller, error) { return s.Engine.Reauthenticate(ctx, secret) }
	case c.SessionID != "":
		secret := sessionSecret(r)
		return func(ctx context.Context) (fermata.Caller, error) { return s.Engine.ReauthenticateSession(ctx, secret) }
	default:
		return nil
	}
}

func (s *Server) callerWithoutToken(r *http.Request) (*fermata.Caller, error) {
	c, err := s.sessionCaller(r)
	if fermata.CodeOf(err) != fermata.CodeUnauthenticated {
		return c, err
	}
	if s.SingleUser && isLocal(r) {
		local, err := s.Engine.LocalCaller(r.Context())
		return &local, err
	}
	return nil, err
}

// sessionCaller returns the caller who is signed in with the browser's cookie.
func (s *Server) sessionCaller(r *http.Request) (*fermata.Caller, error) {
	secret := sessionSecret(r)
	if secret == "" {
		return nil, fermata.Errorf(fermata.CodeUnauthenticated, "a token is needed").
			WithHint("sign in, or send Authorization: Bearer fmt_…; an admin makes tokens with fermata token create")
	}
	c, err := s.Engine.AuthenticateSession(r.Context(), secret)
	if err != nil {
		return nil, err
	}
	if name := r.Header.Get(memberHeader); name != "" && name != c.Name {
		return nil, fermata.Errorf(fermata.CodeUnauthenticated, "somebody else is signed in with this browser now").
			WithHint("%s must sign in again", name)
	}
	return &c, checkOwnPage(r)
}

// memberHeader names the person for whom a page sends requests. A page may outlive this person's session, and its
// answer must not become the next person's answer.
const memberHeader = "Fermata-Member"

// bearerToken returns the token of a request, or "" if it has none.
func bearerToken(r *http.Request) (string, error) {
	header := r.Header.Get("Authorization")
	if header == "" {
		return "", nil
	}
	scheme, secret, ok := strings.Cut(header, " ")
	if !ok || !strings.EqualFold(scheme, "bearer") || len(r.Header["Authorization"]) > 1 {
		return "", fermata.Errorf(fermata.CodeUnauthenticated, "the header Authorization must be: Bearer fmt_…")
	}
	return strings.TrimSpace(secret), nil
}

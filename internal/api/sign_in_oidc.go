package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// OIDCCallbackPath is the path to which the identity provider sends people
// back.
const OIDCCallbackPath = "/v1/sign-in/oidc/callback"

// redirect sends the browser to another address.
type redirect struct {
	Status    int
	Location  string   `header:"Location"`
	SetCookie []string `header:"Set-Cookie"`
}

type oidcStart struct {
	Return string `query:"return" maxLength:"2000" doc:"path of this server to go to afterwards"`
}

// oidcCallback holds the parameters that are read. Providers add more.
type oidcCallback struct {
	State string `query:"state"`
	Code  string `query:"code"`
	Iss   string `query:"iss"`
	Error string `query:"error"`
}

func (s *Server) registerOIDC() {
	start := operation("GET /sign-in/oidc/start", "begin-oidc", "Go to the identity provider")
	start.DefaultStatus = http.StatusSeeOther
	addOpenOperation(s, start, s.beginOIDC)
	callback := operation("GET /sign-in/oidc/callback", "end-oidc", "Come back from the identity provider")
	callback.DefaultStatus, callback.SkipValidateParams = http.StatusSeeOther, true
	addOpenOperation(s, callback, s.endOIDC)
}

// beginOIDC changes nothing about any person, so GET may call it. If another
// page sends a person here, this person is signed in with their own identity.
func (s *Server) beginOIDC(ctx context.Context, in *oidcStart) (*redirect, error) {
	if s.OIDC == nil {
		return nil, noOIDCError()
	}
	path, err := checkOwnPath(in.Return)
	if err != nil {
		return nil, err
	}
	r := requestOf(ctx)
	if err := s.checkCookieSafety(r); err != nil {
		return nil, err
	}
	if err := s.limitSignIn(r); err != nil {
		return nil, err
	}
	address, secret, err := s.OIDC.BeginSignIn(ctx, path)
	if err != nil {
		s.Log.WarnContext(ctx, "a sign-in by the identity provider did not begin", "error", err)
		return nil, err
	}
	return &redirect{http.StatusSeeOther, address, []string{cookie(flowCookie, secret, engine.FlowTimeout)}}, nil
}

// endOIDC always ends at a page, because a person looks at the browser. The
// address of the page names the kind of problem, if there is one.
func (s *Server) endOIDC(ctx context.Context, in *oidcCallback) (*redirect, error) {
	if s.OIDC == nil {
		return nil, noOIDCError()
	}
	r := requestOf(ctx)
	id, path, err := s.OIDC.EndSignIn(ctx, cookieValue(r, flowCookie), url.Values{
		"state": {in.State}, "code": {in.Code}, "iss": {in.Iss}, "error": {in.Error},
	})
	if err != nil {
		return s.redirectToProblem(ctx, oidcProblem(in, err), err), nil
	}
	session, err := s.Engine.SignInByIdentity(ctx, id, browserOf(r))
	if err != nil {
		problem := "unknown"
		if fermata.CodeOf(err) == fermata.CodeNotEligible {
			problem = "unverified"
		}
		return s.redirectToProblem(ctx, problem, err), nil
	}
	return &redirect{http.StatusSeeOther, path, []string{
		cookie(flowCookie, "", 0), cookie(sessionCookie, session.Secret, fermata.SessionLifetime),
	}}, nil
}

func oidcProblem(in *oidcCallback, err error) string {
	switch {
	case in.Error != "":
		return "cancelled"
	case fermata.CodeOf(err) == fermata.CodeUnavailable:
		return "unavailable"
	default:
		return "expired"
	}
}

func (s *Server) redirectToProblem(ctx context.Context, problem string, err error) *redirect {
	s.Log.WarnContext(ctx, "a sign-in by the identity provider failed", "error", err)
	return &redirect{http.StatusSeeOther, "/sign-in?problem=" + problem, []string{cookie(flowCookie, "", 0)}}
}

func noOIDCError() error {
	return fermata.Errorf(fermata.CodePolicyViolation, "this server has no identity provider").
		WithHint("an admin sets it up with --oidc-issuer, or gives you a link")
}

// checkOwnPath returns the path, and refuses one that leads to another server.
func checkOwnPath(path string) (string, error) {
	if path == "" {
		return "/", nil
	}
	u, err := url.Parse(path)
	bad := err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") ||
		strings.ContainsFunc(path, func(r rune) bool { return r == '\\' || r < ' ' || r == 0x7f })
	if bad {
		return "", fermata.Invalid(fermata.Problem{Field: "return", Message: "must be a path of this server, such as /inbox"})
	}
	return u.String(), nil
}

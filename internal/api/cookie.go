package api

import (
	"net/http"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// The cookies have the prefix __Host-. Browsers accept them only from this host
// over a secure connection, and send them to no other host.
const (
	sessionCookie = "__Host-fermata"
	flowCookie    = "__Host-fermata-flow"
)

// sessionSecret returns the session's secret from the cookie, or "" if there is
// no cookie or more than one.
func sessionSecret(r *http.Request) string { return cookieValue(r, sessionCookie) }

func cookieValue(r *http.Request, name string) string {
	cookies := r.CookiesNamed(name)
	if len(cookies) != 1 {
		return ""
	}
	return cookies[0].Value
}

func cookie(name, value string, maxAge time.Duration) string {
	age := int(maxAge.Seconds())
	if value == "" {
		age = -1
	}
	c := http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: age, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
	return c.String()
}

func browserOf(r *http.Request) engine.Browser {
	return engine.Browser{UserAgent: r.UserAgent(), Secret: sessionSecret(r)}
}

// checkOwnPage refuses a change that is authorized by a cookie if the browser
// does not say which page sends it. [http.CrossOriginProtection] lets requests
// without these headers pass, because programs send them with tokens.
func checkOwnPage(r *http.Request) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return nil
	}
	if r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == "" {
		return fermata.Errorf(fermata.CodeForbidden, "the browser does not say which page sends this").
			WithHint("programs send a token: Authorization: Bearer fmt_…")
	}
	return nil
}

// checkCookieSafety refuses to sign in over a connection that others can read.
// A browser would not store the cookie there.
func (s *Server) checkCookieSafety(r *http.Request) error {
	if r.TLS != nil || s.public.Scheme == "https" || isLoopbackHost(r.Host) {
		return nil
	}
	return fermata.Errorf(fermata.CodePolicyViolation, "signing in needs https: over http, others on the way could take the session").
		WithHint("put a proxy with TLS before the server and start it with --public-url https://…; on this machine open http://127.0.0.1")
}

package access

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// OIDCOptions configure an identity provider.
type OIDCOptions struct {
	Issuer, ClientID, ClientSecret string
	// Name is the text on the sign-in button; empty means the issuer's host.
	Name string
	// TrustEmail treats an address as verified if the provider does not say whether it is.
	TrustEmail bool
	// Roles are roles by group at the provider. If there are any, they decide a member's role at each sign-in.
	// GroupsClaim is the claim that lists the groups; empty means "groups".
	Roles       map[string]string
	GroupsClaim string
	// Redirect is the address to which the provider sends people back.
	Redirect string
	Engine   *engine.Engine
}

// providerTimeout is the time limit for one reply of the provider.
const providerTimeout = 10 * time.Second

// OIDC signs people in with an identity provider. It uses the authorization
// code flow with PKCE, state and nonce.
type OIDC struct {
	OIDCOptions
	http *http.Client

	mu       sync.Mutex
	provider *oidc.Provider
}

// NewOIDC checks the options. It does not connect to the provider until the
// first sign-in, so that the server starts without it.
func NewOIDC(o OIDCOptions) (*OIDC, error) {
	u, err := url.Parse(o.Issuer)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "--oidc-issuer must be an address such as https://accounts.example.com")
	}
	if u.Scheme == "http" && !isLoopback(u.Hostname()) {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "--oidc-issuer needs https: %s would be believed over an open connection", u.Host)
	}
	if o.ClientID == "" {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "--oidc-client-id is needed with --oidc-issuer")
	}
	if o.Name == "" {
		o.Name = u.Host
	}
	if err := checkRoles(o.Roles); err != nil {
		return nil, err
	}
	o.GroupsClaim = cmp.Or(o.GroupsClaim, "groups")
	return &OIDC{OIDCOptions: o, http: &http.Client{Timeout: providerTimeout, CheckRedirect: checkSameHost}}, nil
}

// checkSameHost refuses a redirect of the provider to another host or scheme, and more than five redirects. Another
// host could be one that only the server reaches, or could get the code of a sign-in.
func checkSameHost(to *http.Request, via []*http.Request) error {
	from := via[0].URL
	switch {
	case to.URL.Scheme != from.Scheme || to.URL.Host != from.Host:
		return fmt.Errorf("%s redirects to %s, which is not followed", from.Host, to.URL.Redacted())
	case len(via) > 5:
		return fmt.Errorf("%s redirects again and again", from.Host)
	default:
		return nil
	}
}

// DisplayName returns the text on the sign-in button.
func (o *OIDC) DisplayName() string { return o.Name }

// oidcFlow is the stored data of a flow that its end must match.
type oidcFlow struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
	Return   string `json:"return"`
}

// discover reads the provider's addresses and keys, once.
func (o *OIDC) discover(ctx context.Context) (*oidc.Provider, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.provider != nil {
		return o.provider, nil
	}
	p, err := oidc.NewProvider(oidc.ClientContext(ctx, o.http), o.Issuer)
	if err != nil {
		return nil, providerError(err)
	}
	o.provider = p
	return p, nil
}

func providerError(err error) error {
	return withCause(fermata.Errorf(fermata.CodeUnavailable, "the identity provider does not answer as it should").
		WithHint("try again; if it stays, an admin finds the cause in the server's log"), err)
}

// withCause adds a cause for the log that is not sent to the client.
func withCause(e *fermata.Error, cause error) error { return fmt.Errorf("%w (%w)", e, cause) }

func (o *OIDC) config(p *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: o.ClientID, ClientSecret: o.ClientSecret, Endpoint: p.Endpoint(), RedirectURL: o.Redirect,
		Scopes: append([]string{oidc.ScopeOpenID, "email", "profile"}, o.groupScopes(p)...),
	}
}

// BeginSignIn returns the address to which the browser goes, and the secret that the browser keeps until it returns.
// path is the page that the browser opens after the sign-in.
func (o *OIDC) BeginSignIn(ctx context.Context, path string) (address, secret string, err error) {
	p, err := o.discover(ctx)
	if err != nil {
		return "", "", err
	}
	b := oidcFlow{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Return: path}
	if secret, err = o.Engine.BeginFlow(ctx, engine.FlowOIDC, b); err != nil {
		return "", "", err
	}
	return o.config(p).AuthCodeURL(b.State, oidc.Nonce(b.Nonce), oauth2.S256ChallengeOption(b.Verifier)), secret, nil
}

// EndSignIn returns the identity of the person who came back from the provider, and
// the path that the browser opens next. secret is the secret that [OIDC.BeginSignIn]
// returned.
func (o *OIDC) EndSignIn(ctx context.Context, secret string, query url.Values) (engine.Identity, string, error) {
	var b oidcFlow
	if err := o.Engine.EndFlow(ctx, engine.FlowOIDC, secret, &b); err != nil {
		return engine.Identity{}, "", err
	}
	if b.State == "" || query.Get("state") != b.State {
		return engine.Identity{}, "", refusalError("the sign-in does not belong to this browser")
	}
	if iss := query.Get("iss"); iss != "" && iss != o.Issuer {
		return engine.Identity{}, "", refusalError("another identity provider answered")
	}
	if query.Get("error") != "" || query.Get("code") == "" {
		return engine.Identity{}, "", refusalError("the identity provider did not let you in")
	}
	id, err := o.exchange(ctx, b, query.Get("code"))
	return id, b.Return, err
}

func refusalError(message string) error {
	return fermata.Errorf(fermata.CodeUnauthenticated, "%s", message).WithHint("begin again")
}

// exchange exchanges the code for tokens and verifies them.
func (o *OIDC) exchange(ctx context.Context, b oidcFlow, code string) (engine.Identity, error) {
	p, err := o.discover(ctx)
	if err != nil {
		return engine.Identity{}, err
	}
	ctx = oidc.ClientContext(ctx, o.http)
	token, err := o.config(p).Exchange(ctx, code, oauth2.VerifierOption(b.Verifier))
	if err != nil {
		return engine.Identity{}, withCause(fermata.Errorf(fermata.CodeUnauthenticated, "the identity provider took the sign-in back").WithHint("begin again"), err)
	}
	raw, _ := token.Extra("id_token").(string)
	idToken, err := p.Verifier(&oidc.Config{ClientID: o.ClientID}).Verify(ctx, raw)
	if err != nil {
		return engine.Identity{}, withCause(fermata.Errorf(fermata.CodeUnauthenticated, "what the identity provider says cannot be verified").WithHint("begin again"), err)
	}
	if idToken.Nonce != b.Nonce {
		return engine.Identity{}, refusalError("the identity provider answered another sign-in")
	}
	var userClaims claims
	if err := idToken.Claims(&userClaims); err != nil {
		return engine.Identity{}, providerError(err)
	}
	if !userClaims.isFor(o.ClientID, idToken.Audience) {
		return engine.Identity{}, refusalError("the identity provider answered another program")
	}
	id := engine.Identity{Subject: idToken.Issuer + " " + idToken.Subject, Name: userClaims.Name}
	if id.Role, err = o.roleOf(idToken); err != nil {
		return engine.Identity{}, providerError(err)
	}
	if address := fermata.CanonicalEmail(userClaims.Email); userClaims.EmailVerified.isTrue || userClaims.EmailVerified.isMissing() && o.TrustEmail {
		id.Email = address
	} else {
		id.UnverifiedEmail = address
	}
	return id, nil
}

// claims are the claims about the person who signs in (OpenID Connect Core 1.0 §5.1).
type claims struct {
	Email           string   `json:"email"`
	EmailVerified   verified `json:"email_verified"`
	Name            string   `json:"name"`
	AuthorizedParty string   `json:"azp"`
}

// isFor reports whether the token was issued to this client (OpenID Connect Core 1.0 §3.1.3.7, rules 4 and 5). A
// token for several audiences must name the client to which it was issued.
func (c claims) isFor(client string, audience []string) bool {
	return c.AuthorizedParty == client || c.AuthorizedParty == "" && len(audience) == 1
}

// verified is the claim that an address was verified. Some providers write it as a text, and some leave it out.
type verified struct{ isSet, isTrue bool }

func (v verified) isMissing() bool { return !v.isSet }

// UnmarshalJSON reads true and false, also as texts. Any other value counts as false.
func (v *verified) UnmarshalJSON(data []byte) error {
	text := strings.ToLower(strings.Trim(string(data), `"`))
	*v = verified{isSet: text != "null", isTrue: text == "true"}
	return nil
}

func isLoopback(host string) bool {
	return host == "localhost" || strings.HasPrefix(host, "127.") || host == "::1"
}

package access

import (
	"context"
	"net/url"
	"time"
)

// signOutTimeout is how long a sign-out waits for the provider. The server asks the provider only if it does not know
// the provider's addresses yet. It reads them at the first sign-in after a start.
const signOutTimeout = 3 * time.Second

// SignOutURL returns the address at which a browser ends its session at the provider (OpenID Connect RP-Initiated
// Logout 1.0 §2). It returns "" if the provider has no such address or does not answer.
func (o *OIDC) SignOutURL(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, signOutTimeout)
	defer cancel()
	p, err := o.discover(ctx)
	if err != nil {
		return ""
	}
	var known struct {
		EndSession string `json:"end_session_endpoint"`
	}
	if p.Claims(&known) != nil {
		return ""
	}
	endpoint, err := url.Parse(known.EndSession)
	if err != nil || endpoint.Host == "" || endpoint.Scheme != "https" && !(endpoint.Scheme == "http" && isLoopback(endpoint.Hostname())) {
		return ""
	}
	query := endpoint.Query()
	query.Set("client_id", o.ClientID)
	if back, err := url.Parse(o.Redirect); err == nil {
		query.Set("post_logout_redirect_uri", back.ResolveReference(&url.URL{Path: "/sign-in"}).String())
	}
	endpoint.RawQuery = query.Encode()
	return endpoint.String()
}

package github

import (
	"context"
	"crypto/rsa"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
	gh "github.com/google/go-github/v89/github"
)

// key reads the App's private key. In an environment variable, a key often has
// \n in place of its line ends.
func (s *Settings) key() (*rsa.PrivateKey, error) {
	return jwt.ParseRSAPrivateKeyFromPEM([]byte(strings.ReplaceAll(s.PrivateKey, `\n`, "\n")))
}

// bearer is a transport that adds the token to the requests to one host only.
// So a redirect to another host does not reveal the token.
type bearer struct {
	host  string
	token func(ctx context.Context) (string, error)
	// onRefused is called if GitHub refuses the token.
	onRefused func()
	base      http.RoundTripper
}

// RoundTrip sends the request with the token.
func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != b.host {
		return b.base.RoundTrip(r)
	}
	token, err := b.token(r.Context())
	if err != nil {
		return nil, err
	}
	signed := r.Clone(r.Context())
	signed.Header.Set("Authorization", "Bearer "+token)
	resp, err := b.base.RoundTrip(signed)
	if err == nil && resp.StatusCode == http.StatusUnauthorized && b.onRefused != nil {
		b.onRefused()
	}
	return resp, err
}

// appToken returns a token that the App signs for itself. GitHub accepts a
// lifetime of ten minutes at most, and clocks differ.
func (s *Settings) appToken(context.Context) (string, error) {
	key, err := s.key()
	if err != nil {
		return "", err
	}
	now := time.Now()
	return jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
		Issuer:    strconv.FormatInt(s.AppID, 10),
		IssuedAt:  jwt.NewNumericDate(now.Add(-time.Minute)),
		ExpiresAt: jwt.NewNumericDate(now.Add(8 * time.Minute)),
	}).SignedString(key)
}

// installation caches the token of an App's installation. The token lasts one
// hour.
type installation struct {
	id  int64
	app *gh.Client

	mu      sync.Mutex
	token   string
	expires time.Time
}

// renewBefore is how long before its expiry a token is replaced.
const renewBefore = 5 * time.Minute

// currentToken returns a valid token.
func (i *installation) currentToken(ctx context.Context) (string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.token != "" && time.Now().Before(i.expires.Add(-renewBefore)) {
		return i.token, nil
	}
	t, _, err := i.app.Apps.CreateInstallationToken(ctx, i.id, nil)
	if err != nil {
		return "", apiFailure("sign in as the App's installation", err)
	}
	i.token, i.expires = t.GetToken(), t.GetExpiresAt().Time
	return i.token, nil
}

// forget drops the token after GitHub refused it.
func (i *installation) forget() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.token = ""
}

package client

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// Client calls one server with one token. It is safe for concurrent use.
type Client struct {
	base      *url.URL
	token     string
	http      *http.Client
	userAgent string
	// agentToken is the token that a worker gives its agents.
	agentToken string
	maxTries   int
	// minBackoff is the wait before the second try. Each further wait is twice as
	// long.
	minBackoff time.Duration
	// idleTimeout is how long a stream may be silent before the client reconnects.
	idleTimeout time.Duration
}

// Option changes how a [Client] works.
type Option func(*Client)

// WithHTTPClient makes the client use h. A timeout of h must not be shorter
// than a long poll (60 seconds).
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithUserAgent sets the User-Agent header, which appears in access logs.
func WithUserAgent(name string) Option { return func(c *Client) { c.userAgent = name } }

// WithAgentToken sets the token that a worker gives its agents. Claims name
// this token, so that the agents can reach the tasks that the worker claims.
func WithAgentToken(token string) Option { return func(c *Client) { c.agentToken = token } }

// WithoutRetries limits every call to a single try.
func WithoutRetries() Option { return func(c *Client) { c.maxTries = 1 } }

// New returns a client of the server at baseURL, such as http://127.0.0.1:7433.
// The token may be empty if the server runs for a single local user.
func New(baseURL, token string, opts ...Option) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(strings.TrimSpace(baseURL), "/"))
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "%q is no address of a server", baseURL).
			WithHint("write it like http://127.0.0.1:7433")
	}
	token = strings.TrimSpace(token)
	if token != "" {
		if err := fermata.CheckSecret(token); err != nil {
			return nil, err
		}
	}
	c := &Client{
		base: base, token: token, userAgent: "fermata-go", maxTries: 5,
		minBackoff: 100 * time.Millisecond, idleTimeout: 90 * time.Second,
	}
	for _, opt := range opts {
		opt(c)
	}
	if c.http == nil {
		c.http = &http.Client{Transport: newTransport()}
	}
	return c, nil
}

// URL returns the address of the server.
func (c *Client) URL() string { return c.base.String() }

// CloseIdleConnections closes the connections that no call is using.
func (c *Client) CloseIdleConnections() { c.http.CloseIdleConnections() }

// newTransport returns a transport that keeps enough connections to one host
// for many waiting calls. A long poll is answered within a minute, so the
// connection counts as broken if the reply's header takes longer than 90
// seconds.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          512,
		MaxIdleConnsPerHost:   256,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 90 * time.Second,
	}
}

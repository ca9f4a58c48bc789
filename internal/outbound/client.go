// Package outbound creates HTTP clients for addresses that people give to the
// server: webhooks, push subscriptions, notification services. The clients
// reach only public addresses, so that nobody can make the server send requests
// to hosts in its own network.
//
// The address is checked when the connection is opened, after the host name was
// resolved. So a name that resolves differently before or later does no harm,
// and the spelling of an address does not matter.
package outbound

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// Options configure which addresses a client may reach.
type Options struct {
	// AllowPrivate allows every address and every port.
	AllowPrivate bool
	// Allow are networks that may be reached although they are not public, on
	// any port.
	Allow []netip.Prefix
	// Timeout is the time limit for one request with its response; 0 means only
	// the context's.
	Timeout time.Duration
	// Resolver resolves host names; nil means the system's.
	Resolver *net.Resolver
}

const (
	// connectTimeout is the time limit for opening a connection.
	connectTimeout = 10 * time.Second
	// maxHeaderBytes is the largest size in bytes of a response's header.
	maxHeaderBytes = 64 << 10
)

// Client returns a client that follows no redirect and uses no proxy from the
// environment. It refuses addresses that are not allowed, with an error that
// [IsRefused] recognises. It uses only http and https, and refuses addresses with
// a password.
func Client(o Options) *http.Client {
	return &http.Client{
		Transport: &transport{base: newTransport(o), guard: newGuard(o)},
		Timeout:   o.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

// newTransport returns a transport that checks every connection with the guard.
func newTransport(o Options) *http.Transport {
	g := newGuard(o)
	dialer := &net.Dialer{Timeout: connectTimeout, Resolver: o.Resolver, ControlContext: g.checkConnection}
	return &http.Transport{
		Proxy: nil,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			// The text of a refusal is written for people. The text of the
			// error that wraps it is not.
			if refused, ok := errors.AsType[*refusal](err); ok {
				return nil, refused
			}
			return conn, err
		},
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           100,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    connectTimeout,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
}

// transport checks the address of a request before it is sent. The guard also
// checks every connection.
type transport struct {
	base  *http.Transport
	guard *guard
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.guard.checkURL(req.URL); err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	return t.base.RoundTrip(req)
}

// DialContext connects with the checks of the client. It is for protocols that
// begin with a connection of their own, such as WebSocket.
func (t *transport) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return t.base.DialContext(ctx, network, address)
}

// CloseIdleConnections closes the idle connections.
func (t *transport) CloseIdleConnections() { t.base.CloseIdleConnections() }

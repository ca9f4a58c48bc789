// Package outbound makes the HTTP clients for addresses that people give to
// the server: webhooks, push subscriptions, services of notification. They
// reach public addresses only, so that nobody can make the server talk to what
// stands beside it.
//
// The address is judged when the connection is made, after the name was
// resolved. Whatever a name said before, or says a moment later, does not
// matter, and neither does how an address was written.
package outbound

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// Options say what a client may reach.
type Options struct {
	// AllowPrivate allows every address and every port.
	AllowPrivate bool
	// Allow names networks that may be reached though they are not public, on
	// any port.
	Allow []netip.Prefix
	// Timeout is for one request with its response; 0 leaves it to the context.
	Timeout time.Duration
	// Resolver finds addresses; nil takes the system's.
	Resolver *net.Resolver
}

const (
	// connectWithin is how long making a connection may take.
	connectWithin = 10 * time.Second
	// mostHeader is how many bytes of header a response may have.
	mostHeader = 64 << 10
)

// Client returns a client that follows no redirect, takes no proxy from the
// environment, and refuses addresses that are not allowed with an error that
// [Refused] knows. It speaks http and https and sends no password of an
// address.
func Client(o Options) *http.Client {
	return &http.Client{
		Transport: &transport{base: newTransport(o), guard: newGuard(o)},
		Timeout:   o.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

// newTransport returns a transport that asks the guard at every connection.
func newTransport(o Options) *http.Transport {
	g := newGuard(o)
	dialer := &net.Dialer{Timeout: connectWithin, Resolver: o.Resolver, ControlContext: g.control}
	return &http.Transport{
		Proxy: nil,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			// What the guard says is for people; what is around it is not.
			if refused, ok := errors.AsType[*refusal](err); ok {
				return nil, refused
			}
			return conn, err
		},
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           100,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    connectWithin,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: mostHeader,
	}
}

// transport judges the address of a request before it is sent, on top of what
// the guard does at every connection.
type transport struct {
	base  *http.Transport
	guard *guard
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.guard.url(req.URL); err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	return t.base.RoundTrip(req)
}

// DialContext connects as the client's requests do, for protocols that begin
// with a connection of their own, such as WebSocket.
func (t *transport) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return t.base.DialContext(ctx, network, address)
}

// CloseIdleConnections closes connections that nothing uses.
func (t *transport) CloseIdleConnections() { t.base.CloseIdleConnections() }

package process

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/patience"
)

// LoadBalancer is a load balancer before one or several servers: clients keep one address while servers start and stop. If a
// server refuses the connection, the next one is tried. After any other failure, the client itself has to retry.
type LoadBalancer struct {
	// RetriesUntilReply makes the load balancer repeat a request, with its idempotency key, as long as the status is 502, 503
	// or 504, or there is no reply. So the client learns the result of every request, however often the servers die.
	RetriesUntilReply bool

	// Pause is how long each request waits before it is sent. It keeps long labs from using a whole machine.
	Pause time.Duration

	// Repeated counts requests that were repeated because it was unknown whether they had arrived. ServerErrors counts
	// replies with status 500 or more.
	Repeated, ServerErrors atomic.Int64

	transport *http.Transport
	mu        sync.Mutex
	hosts     []string
	next      int
}

// repeatAfter is how long a load balancer with RetriesUntilReply waits before it repeats a request.
const repeatAfter = 25 * time.Millisecond

// frontURL is the address that clients use.
const frontURL = "http://front.test"

// NewLoadBalancer returns a load balancer for the servers.
func NewLoadBalancer(tb testing.TB, servers ...*Server) *LoadBalancer {
	f := &LoadBalancer{transport: &http.Transport{
		MaxIdleConnsPerHost: 256, DialContext: (&net.Dialer{Timeout: patience.Limit()}).DialContext,
	}}
	f.SetServers(servers...)
	tb.Cleanup(f.transport.CloseIdleConnections)
	return f
}

// SetServers sets the servers that run now.
func (f *LoadBalancer) SetServers(servers ...*Server) {
	hosts := make([]string, 0, len(servers))
	for _, s := range servers {
		hosts = append(hosts, strings.TrimPrefix(s.URL, "http://"))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hosts = hosts
}

// Client returns a client of the servers behind the load balancer.
func (f *LoadBalancer) Client(tb testing.TB, token string) *client.Client {
	tb.Helper()
	opts := []client.Option{client.WithHTTPClient(&http.Client{Transport: f})}
	c, err := client.New(frontURL, token, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// RoundTrip sends the request to one of the servers.
func (f *LoadBalancer) RoundTrip(req *http.Request) (*http.Response, error) {
	if f.Pause > 0 {
		<-time.After(f.Pause)
	}
	for {
		res, err := f.sendOnce(req)
		if res != nil && res.StatusCode >= 500 {
			f.ServerErrors.Add(1)
		}
		if !f.RetriesUntilReply || (err == nil && !isUnavailable(res.StatusCode)) {
			return res, err
		}
		if err == nil {
			_ = res.Body.Close()
		}
		f.Repeated.Add(1)
		select {
		case <-req.Context().Done():
			return nil, context.Cause(req.Context())
		case <-time.After(repeatAfter):
		}
	}
}

func isUnavailable(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
}

// sendOnce tries every server until one accepts the connection.
func (f *LoadBalancer) sendOnce(req *http.Request) (*http.Response, error) {
	f.mu.Lock()
	hosts, first := f.hosts, f.next
	f.next++
	f.mu.Unlock()
	err := errors.New("no server is there")
	for i := range hosts {
		var res *http.Response
		if res, err = f.send(req, hosts[(first+i)%len(hosts)]); err == nil || !isDialError(err) {
			return res, err
		}
	}
	return nil, err
}

// isDialError reports whether the connection failed, so that the request was never sent.
func isDialError(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// send sends a copy of the request to a host. Unless the reply is a stream, send reads all of it and returns an error if
// it is cut off.
func (f *LoadBalancer) send(req *http.Request, host string) (*http.Response, error) {
	out := req.Clone(req.Context())
	out.URL.Host, out.Host = host, host
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		out.Body = body
	}
	res, err := f.transport.RoundTrip(out)
	if err != nil || strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		return res, err
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(data))
	return res, nil
}

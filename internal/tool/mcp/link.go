package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/outbound"
	"github.com/fermata-hq/fermata/internal/tool"
)

// connectTime is the time limit for a new connection.
const connectTime = 30 * time.Second

// serverLink manages the connection to one server.
type serverLink struct {
	name   string
	server Server
	opts   *Options
	// connecting is a lock that a goroutine holds while it connects. The others
	// wait for it.
	connecting chan struct{}

	mu   sync.Mutex
	conn *connection
}

// connection is an open connection.
type connection struct {
	session *mcp.ClientSession
	// program is the program of the server; nil for a server with a URL.
	program *program
	// transport sends the requests to a server with a URL.
	transport *headerTransport
}

func newLink(name string, s Server, o *Options) *serverLink {
	return &serverLink{name: name, server: s, opts: o, connecting: make(chan struct{}, 1)}
}

// open returns the open connection, or opens a new one.
func (l *serverLink) open(ctx context.Context) (*connection, error) {
	select {
	case l.connecting <- struct{}{}:
		defer func() { <-l.connecting }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if have := l.current(); have != nil {
		return have, nil
	}
	made, err := l.connect(ctx)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn = made
	// This goroutine drops the connection when the server goes away, so that
	// the next call opens a new one.
	go func() {
		_ = made.session.Wait()
		l.drop(made)
	}()
	return made, nil
}

func (l *serverLink) current() *connection {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn
}

// drop removes and closes a broken connection.
func (l *serverLink) drop(broken *connection) {
	l.mu.Lock()
	if l.conn == broken {
		l.conn = nil
	}
	l.mu.Unlock()
	broken.close()
}

func (l *serverLink) close() {
	if have := l.current(); have != nil {
		l.drop(have)
	}
}

// close ends the session and the program behind it. It may be called more than
// once.
func (v *connection) close() {
	if v.session != nil {
		_ = v.session.Close()
	}
	v.program.stop()
}

// connect opens a new connection.
func (l *serverLink) connect(ctx context.Context) (*connection, error) {
	v := &connection{}
	transport, err := l.transport(ctx, v)
	if err != nil {
		return nil, l.addServerName(err)
	}
	connectCtx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "fermata", Version: l.opts.Version}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	if v.session, err = client.Connect(connectCtx, transport, nil); err != nil {
		v.session = nil
		v.close()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, l.downFailure(v, err)
	}
	return v, nil
}

// transport returns the transport to the server. If the server is a program, it
// starts the program.
func (l *serverLink) transport(ctx context.Context, v *connection) (mcp.Transport, error) {
	if l.server.URL != "" {
		headers, err := l.server.headers()
		if err != nil {
			return nil, err
		}
		v.transport = &headerTransport{base: l.opts.HTTP.Transport, headers: headers}
		return &mcp.StreamableClientTransport{
			Endpoint: l.server.URL, DisableStandaloneSSE: true, MaxEventSize: maxResponseSize,
			// There is no timeout here: a stream lasts as long as its call.
			HTTPClient: &http.Client{Transport: v.transport, CheckRedirect: l.opts.HTTP.CheckRedirect},
		}, nil
	}
	if !l.opts.AllowCommands {
		return nil, tool.Permanent(fermata.Errorf(fermata.CodeForbidden, "it is a program, and programs of MCP servers are not allowed here").
			WithHint("run it where it has an address and give its url, or let the operator of the server allow programs"))
	}
	env, err := l.server.environ()
	if err != nil {
		return nil, err
	}
	v.program, err = startProgram(ctx, l.server.Command, env)
	if err != nil {
		return nil, err
	}
	return v.program.transport(), nil
}

// addServerName adds the name of the server to an error.
func (l *serverLink) addServerName(err error) error {
	e, ok := errors.AsType[*fermata.Error](err)
	if !ok {
		return fmt.Errorf("the MCP server %s: %w", l.name, err)
	}
	namedErr := *e
	namedErr.Message = "the MCP server " + l.name + ": " + e.Message
	return tool.Permanent(&namedErr)
}

// downFailure returns the failure for a server that cannot be reached. Its hint
// says what to check.
func (l *serverLink) downFailure(v *connection, err error) error {
	if v.program != nil {
		return tool.Transient(fermata.Errorf(fermata.CodeUnavailable, "the MCP server %s is down: %s", l.name, v.program.stopReason(err)).
			WithHint("start it by hand to see what it says: %s", strings.Join(l.server.Command, " ")))
	}
	host := l.server.URL
	if u, err := url.Parse(l.server.URL); err == nil {
		host = u.Host
	}
	// The URL may contain a secret.
	message := strings.ReplaceAll(err.Error(), l.server.URL, host)
	e := fermata.Errorf(fermata.CodeUnavailable, "the MCP server %s is down: %s", l.name, clipError(message))
	switch {
	case v.transport.refused.Load():
		return tool.Permanent(e.WithHint("a network that is not public is named where the server is started: fermata serve --allow-networks"))
	case v.transport.denied.Load():
		return tool.Permanent(e.WithHint("the server wants to know who asks: check the headers of %s", l.name))
	default:
		return tool.Transient(e.WithHint("check that it runs at %s, and the url of %s", host, l.name))
	}
}

// tools returns the tools of the server.
func (l *serverLink) tools(ctx context.Context) ([]*serverTool, error) {
	for retried := false; ; retried = true {
		v, err := l.open(ctx)
		if err != nil {
			return nil, err
		}
		list, err := l.listTools(ctx, v)
		switch {
		case err == nil:
			return list, nil
		case errors.Is(err, mcp.ErrSessionMissing) && !retried:
			l.drop(v)
		default:
			l.drop(v)
			return nil, l.downFailure(v, err)
		}
	}
}

func (l *serverLink) listTools(ctx context.Context, v *connection) ([]*serverTool, error) {
	var all []*serverTool
	for t, err := range v.session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		described, err := newServerTool(l, t)
		if err != nil {
			return nil, err
		}
		all = append(all, described)
	}
	return all, nil
}

// headerTransport adds the headers to every request, and remembers whether the
// last one was refused or denied.
type headerTransport struct {
	base    http.RoundTripper
	headers http.Header
	// refused reports whether the address is not allowed. denied reports
	// whether the server did not accept the credentials.
	refused, denied atomic.Bool
}

// RoundTrip implements [http.RoundTripper].
func (c *headerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range c.headers {
		r.Header[name] = values
	}
	base := c.base
	if base == nil {
		base = http.DefaultTransport
	}
	resp, err := base.RoundTrip(r)
	if err != nil {
		c.refused.Store(outbound.IsRefused(err))
		return nil, err
	}
	c.denied.Store(resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden)
	resp.Body = &limitedBody{resp.Body, maxResponseSize}
	return resp, nil
}

// maxResponseSize limits how many bytes of one response are read. The output of
// the tool is then limited by [tool.MaxOutput].
const maxResponseSize = 8 << 20

// limitedBody is a body whose reading fails after a number of bytes.
type limitedBody struct {
	io.ReadCloser
	remaining int
}

// Read implements [io.Reader].
func (b *limitedBody) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		return 0, errors.New("the response is too long")
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.remaining)])
	b.remaining -= n
	return n, err
}

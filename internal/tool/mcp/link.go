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

// connectTime is the time limit for making a connection.
const connectTime = 30 * time.Second

// link manages the connection to one server.
type link struct {
	name   string
	server Server
	opts   *Options
	// connecting is a lock that a goroutine holds while it connects. The others
	// wait for it.
	connecting chan struct{}

	mu   sync.Mutex
	live *live
}

// live is an open connection.
type live struct {
	session *mcp.ClientSession
	// program is the program of the server; nil for a server with a URL.
	program *program
	// carrier sends the requests to a server with a URL.
	carrier *carrier
}

func newLink(name string, s Server, o *Options) *link {
	return &link{name: name, server: s, opts: o, connecting: make(chan struct{}, 1)}
}

// open returns the open connection, or makes a new one.
func (l *link) open(ctx context.Context) (*live, error) {
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
	l.live = made
	// This notices that a server went away before the next call does.
	go func() {
		_ = made.session.Wait()
		l.drop(made)
	}()
	return made, nil
}

func (l *link) current() *live {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.live
}

// drop removes and closes a broken connection.
func (l *link) drop(broken *live) {
	l.mu.Lock()
	if l.live == broken {
		l.live = nil
	}
	l.mu.Unlock()
	broken.close()
}

func (l *link) close() {
	if have := l.current(); have != nil {
		l.drop(have)
	}
}

// close ends the session and the program behind it. It may be called more than
// once.
func (v *live) close() {
	if v.session != nil {
		_ = v.session.Close()
	}
	v.program.stop()
}

// connect makes a new connection.
func (l *link) connect(ctx context.Context) (*live, error) {
	v := &live{}
	transport, err := l.transport(ctx, v)
	if err != nil {
		return nil, l.nameServer(err)
	}
	within, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "fermata", Version: l.opts.Version}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	if v.session, err = client.Connect(within, transport, nil); err != nil {
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
func (l *link) transport(ctx context.Context, v *live) (mcp.Transport, error) {
	if l.server.URL != "" {
		headers, err := l.server.headers()
		if err != nil {
			return nil, err
		}
		v.carrier = &carrier{base: l.opts.HTTP.Transport, headers: headers}
		return &mcp.StreamableClientTransport{
			Endpoint: l.server.URL, DisableStandaloneSSE: true, MaxEventSize: longestResponse,
			// There is no timeout here: a stream lasts as long as its call.
			HTTPClient: &http.Client{Transport: v.carrier, CheckRedirect: l.opts.HTTP.CheckRedirect},
		}, nil
	}
	if !l.opts.AllowCommands {
		return nil, tool.Hopeless(fermata.Errorf(fermata.CodeForbidden, "it is a program, and programs of MCP servers are not allowed here").
			WithHint("run it where it has an address and give its url, or let whoever runs the server allow programs"))
	}
	env, err := l.server.environ()
	if err != nil {
		return nil, err
	}
	v.program, err = start(ctx, l.server.Command, env)
	if err != nil {
		return nil, err
	}
	return v.program.transport(), nil
}

// nameServer adds the name of the server to an error.
func (l *link) nameServer(err error) error {
	e, ok := errors.AsType[*fermata.Error](err)
	if !ok {
		return fmt.Errorf("the MCP server %s: %w", l.name, err)
	}
	about := *e
	about.Message = "the MCP server " + l.name + ": " + e.Message
	return tool.Hopeless(&about)
}

// downFailure returns the failure for a server that cannot be reached. Its hint
// says what to check.
func (l *link) downFailure(v *live, err error) error {
	if v.program != nil {
		return tool.Passing(fermata.Errorf(fermata.CodeUnavailable, "the MCP server %s is down: %s", l.name, v.program.words(err)).
			WithHint("start it by hand to see what it says: %s", strings.Join(l.server.Command, " ")))
	}
	host := l.server.URL
	if u, err := url.Parse(l.server.URL); err == nil {
		host = u.Host
	}
	// The URL may contain a secret.
	words := strings.ReplaceAll(err.Error(), l.server.URL, host)
	e := fermata.Errorf(fermata.CodeUnavailable, "the MCP server %s is down: %s", l.name, clip(words))
	switch {
	case v.carrier.refused.Load():
		return tool.Hopeless(e.WithHint("a network that is not public is named where the server is started: fermata serve --allow-networks"))
	case v.carrier.denied.Load():
		return tool.Hopeless(e.WithHint("the server wants to know who asks: check the headers of %s", l.name))
	default:
		return tool.Passing(e.WithHint("check that it runs at %s, and the url of %s", host, l.name))
	}
}

// tools returns the tools of the server.
func (l *link) tools(ctx context.Context) ([]*one, error) {
	for again := false; ; again = true {
		v, err := l.open(ctx)
		if err != nil {
			return nil, err
		}
		list, err := l.list(ctx, v)
		switch {
		case err == nil:
			return list, nil
		case errors.Is(err, mcp.ErrSessionMissing) && !again:
			l.drop(v)
		default:
			l.drop(v)
			return nil, l.downFailure(v, err)
		}
	}
}

func (l *link) list(ctx context.Context, v *live) ([]*one, error) {
	var all []*one
	for t, err := range v.session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		described, err := describe(l, t)
		if err != nil {
			return nil, err
		}
		all = append(all, described)
	}
	return all, nil
}

// carrier adds the headers to every request, and remembers why the last one
// failed.
type carrier struct {
	base    http.RoundTripper
	headers http.Header
	// refused says that the address may not be reached, denied that the server
	// did not accept the credentials.
	refused, denied atomic.Bool
}

// RoundTrip implements [http.RoundTripper].
func (c *carrier) RoundTrip(r *http.Request) (*http.Response, error) {
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
		c.refused.Store(outbound.Refused(err))
		return nil, err
	}
	c.denied.Store(resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden)
	resp.Body = &bounded{resp.Body, longestResponse}
	return resp, nil
}

// longestResponse limits how many bytes of one response are read. Its output is
// then limited by [tool.MostOutput].
const longestResponse = 8 << 20

// bounded is a body whose reading fails after a number of bytes.
type bounded struct {
	io.ReadCloser
	left int
}

// Read implements [io.Reader].
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errors.New("the response is too long")
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

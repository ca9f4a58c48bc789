package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/mcpserver"
)

// MCPOptions say how an agent on standard input and output is served.
type MCPOptions struct {
	URL, Token string
	// Configured reports whether somebody named the server. If nobody did and
	// none listens at the address, one is started.
	Configured             bool
	Task, Session, Project string
	// Data is the folder of a server that is started.
	Data    string
	Version string
	Log     *slog.Logger
	In      io.ReadCloser
	Out     io.WriteCloser
	// Err is where the person is told where to answer.
	Err io.Writer
}

// RunMCP serves one agent until it goes away or ctx ends.
func RunMCP(ctx context.Context, o MCPOptions) error {
	if !o.Configured && !listens(ctx, o.URL) {
		return embeddedMCP(ctx, o)
	}
	return serveAgent(ctx, o)
}

// mountMCP lets agents speak the protocol with the server over HTTP.
func mountMCP(server *api.Server, e *engine.Engine, o ServeOptions) {
	server.Mount(api.Mount{
		Path: mcpserver.Path, Challenge: mcpserver.Challenge,
		Handler: mcpserver.Handler(mcpserver.HTTPOptions{
			Engine: e, Caller: api.CallerOf, LimitAsk: server.LimitAsk, Stopping: server.Draining(), Version: o.Version, Log: o.Log,
			MaxBody: api.DefaultMaxBody,
		}),
	})
	for _, path := range mcpserver.MetadataPaths {
		server.Mount(api.Mount{Path: path, Handler: mcpserver.Metadata(), Open: true})
	}
}

// listens reports whether something accepts connections at the address.
func listens(ctx context.Context, address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// serveAgent answers the agent's tool calls through the server's API.
func serveAgent(ctx context.Context, o MCPOptions) error {
	c, err := client.New(o.URL, o.Token, client.WithUserAgent("fermata-mcp/"+o.Version))
	if err != nil {
		return err
	}
	defer c.CloseIdleConnections()
	desk := mcpserver.ClientDesk(c, o.Token != "")
	if o.Session == "" {
		o.Session = "mcp:" + rand.Text()
	}
	server := mcpserver.New(mcpserver.Options{
		Desk: func(*mcp.CallToolRequest) (mcpserver.Desk, error) { return desk, nil },
		Task: o.Task, Session: o.Session, Project: o.Project, Version: o.Version, Log: o.Log,
	})
	err = server.ServeIO(ctx, o.In, o.Out)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// embeddedMCP runs a server for one local user as long as the agent lives. The
// agent gets a token of its own, which can never answer.
func embeddedMCP(ctx context.Context, o MCPOptions) error {
	u, err := url.Parse(o.URL)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ready, ended := make(chan Served, 1), make(chan error, 1)
	go func() {
		ended <- Serve(ctx, ServeOptions{
			Listen: u.Host, Data: o.Data, SingleUser: true, Version: o.Version, Log: o.Log, Out: io.Discard,
			Ready: func(s Served) { ready <- s },
		})
	}()
	select {
	case err := <-ended:
		return err
	case served := <-ready:
		_, _ = fmt.Fprintf(o.Err, "fermata: no server is configured, so one runs at %s while this agent does.\n"+
			"fermata: answer with `fermata list --awaiting` and `fermata respond`; keep it running with `fermata serve --single-user`.\n", served.URL)
		token, err := served.Engine.CreateToken(ctx, systemCaller, fermata.NewToken{
			Name: "fermata mcp", Kind: fermata.ActorAgent, Scopes: []fermata.Scope{fermata.ScopeAsk}, ExpiresIn: "30d",
		})
		if err == nil {
			o.URL, o.Token = served.URL, token.Secret
			err = serveAgent(ctx, o)
			// Where the server stops at the same time, the token expires by itself.
			_, _ = served.Engine.RevokeToken(context.WithoutCancel(ctx), systemCaller, token.ID)
		}
		stop()
		return errors.Join(err, <-ended)
	}
}

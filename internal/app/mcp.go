package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/config"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/mcpserver"
)

// MCPOptions configure [RunMCP].
type MCPOptions struct {
	config.MCP
	Version string
	Log     *slog.Logger
	In      io.ReadCloser
	Out     io.WriteCloser
	// Err is the output for the person, such as the address at which to answer.
	Err io.Writer
}

// RunMCP serves one agent on standard input and output, until the agent disconnects or ctx ends.
func RunMCP(ctx context.Context, o MCPOptions) error {
	if !o.Configured && !isListening(ctx, o.Listen) {
		return runEmbeddedMCP(ctx, o)
	}
	if !o.Configured {
		o.URL = "http://" + o.Listen
	}
	if o.Token != "" {
		return serveAgent(ctx, o)
	}
	c, err := client.New(o.URL, "")
	if err != nil {
		return err
	}
	defer c.CloseIdleConnections()
	return serveWithOwnToken(ctx, o, c.CreateToken, c.RevokeToken)
}

// serveWithOwnToken serves an agent on a server where the local user needs no token. It gives the agent a token of its
// own that cannot answer questions.
func serveWithOwnToken(ctx context.Context, o MCPOptions,
	create func(context.Context, fermata.NewToken) (*fermata.Token, error), revoke func(context.Context, string) (*fermata.Token, error),
) error {
	token, err := create(ctx, fermata.NewToken{
		Name: "fermata mcp", Kind: fermata.ActorAgent, Scopes: []fermata.Scope{fermata.ScopeAsk}, ExpiresIn: "30d",
	})
	if err != nil {
		return fmt.Errorf("get a token for the agent from %s: %w", o.URL, err)
	}
	o.Token = token.Secret
	err = serveAgent(ctx, o)
	// If the server stops at the same time, the token expires by itself.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, _ = revoke(ctx, token.ID)
	return err
}

// mountMCP serves the MCP protocol over HTTP at the server's address.
func mountMCP(server *api.Server, e *engine.Engine, d *delivery.Service, o ServeOptions) {
	server.Mount(api.Mount{
		Path: mcpserver.Path, Challenge: mcpserver.Challenge(o.PublicURL),
		Handler: mcpserver.Handler(mcpserver.HTTPOptions{
			Engine: e, Delivery: d, Caller: api.CallerOf, LimitAsk: server.LimitAsk, Stopping: server.Draining(), Version: o.Version, Log: o.Log,
			MaxBody: api.DefaultMaxBody,
		}),
	})
	for _, path := range mcpserver.MetadataPaths {
		server.Mount(api.Mount{Path: path, Handler: mcpserver.Metadata(o.PublicURL), Open: true})
	}
}

// isListening reports whether a program accepts connections at the address.
func isListening(ctx context.Context, address string) bool {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
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
	backend := mcpserver.ClientBackend(c, o.Token != "")
	if o.ApproveWait == 0 {
		o.ApproveWait = -1
	}
	if o.OtherSession == "" {
		o.OtherSession = "mcp:" + rand.Text()
	}
	server := mcpserver.New(mcpserver.Options{
		Backend: func(*mcp.CallToolRequest) (mcpserver.Backend, error) { return backend, nil },
		Task:    o.Task, RunID: o.RunID, Session: o.Session, OtherSession: o.OtherSession, Project: o.Project, AskTool: o.AskTool,
		Version: o.Version, Log: o.Log, ApproveWait: o.ApproveWait, AtDesk: o.Task == "", OnTold: newDeskRecorder(o),
	})
	err = server.ServeIO(ctx, o.In, o.Out)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// newDeskRecorder returns a function that notes the unread questions and the task of an interactive session. The hook that
// tells the agent what people answered and wrote reads these notes. In a worker, the runner does this.
func newDeskRecorder(o MCPOptions) func(string, *fermata.Question) {
	if o.Task != "" {
		return nil
	}
	return func(session string, q *fermata.Question) {
		notes, err := agent.OpenNotes("", session)
		switch {
		case err != nil:
		case q.Resolution == nil:
			err = errors.Join(notes.AddQuestion(q.ID), notes.AddTask(q.TaskID))
		default:
			err = notes.RemoveQuestion(q.ID)
		}
		if err != nil {
			o.Log.Warn("note a question of the session", "question", q.ID, "error", err)
		}
	}
}

// runEmbeddedMCP runs a server for one local user while the agent runs.
func runEmbeddedMCP(ctx context.Context, o MCPOptions) error {
	serve := ServeOptions{
		Server:  config.Server{Listen: o.Listen, Storage: config.Storage{Data: o.Data}, SingleUser: true},
		Version: o.Version, Log: o.Log, Out: io.Discard,
	}
	return withServer(ctx, serve, func(ctx context.Context, served RunningServer) error {
		_, _ = fmt.Fprintf(o.Err, "fermata: no server is configured, so one runs at %s while this agent does.\n"+
			"fermata: answer there, or with `fermata inbox%s`; keep it running with `fermata serve --single-user`.\n", served.URL, urlFlag(served.URL))
		o.URL = served.URL
		return serveWithOwnToken(ctx, o,
			func(ctx context.Context, n fermata.NewToken) (*fermata.Token, error) {
				return served.Engine.CreateToken(ctx, systemCaller, n)
			},
			func(ctx context.Context, id string) (*fermata.Token, error) {
				return served.Engine.RevokeToken(ctx, systemCaller, id)
			})
	})
}

// urlFlag returns the command-line flag for a server that is not at the default address, otherwise "".
func urlFlag(url string) string {
	if url == config.DefaultURL {
		return ""
	}
	return " --url " + url
}

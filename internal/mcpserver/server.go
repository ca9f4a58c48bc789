package mcpserver

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options say how a server works. Only Desk is required.
type Options struct {
	// Desk returns the desk of the caller of a request.
	Desk func(*mcp.CallToolRequest) (Desk, error)
	// Task is the task that questions belong to; without one they go to a task
	// of their own, shared by the questions of a session.
	Task string
	// Session names the agent's session when the client does not tell it.
	Session string
	// Project is the project of questions outside any task.
	Project string
	Version string
	Log     *slog.Logger
	// Stopping ends waits early, when the server is about to stop.
	Stopping <-chan struct{}
}

// Server answers the tool calls of agents.
type Server struct {
	Options
	mcp *mcp.Server
	// progressEvery is the pause between two signs of life of a call that waits.
	progressEvery time.Duration
}

// New returns a server with every tool.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{Options: o, progressEvery: 10 * time.Second}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "fermata", Title: "Fermata", Version: o.Version}, &mcp.ServerOptions{
		Instructions: Guidance, Logger: o.Log, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	for _, t := range tools(s) {
		s.mcp.AddTool(t.tool, t.handle)
	}
	return s
}

// ServeIO serves one client over a pair of streams until it goes away.
func (s *Server) ServeIO(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	return s.mcp.Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
}

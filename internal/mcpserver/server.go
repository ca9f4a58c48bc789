package mcpserver

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
)

// Options say how a server works. Only Desk is required.
type Options struct {
	// Desk returns the desk of the caller of a request.
	Desk func(*mcp.CallToolRequest) (Desk, error)
	// Task is the task that questions belong to; without one they go to a task
	// of their own, shared by the questions of a session.
	Task string
	// RunID is the run of that task, where one calls.
	RunID string
	// Session names the agent's session; without it the client does, else it is
	// OtherSession.
	Session, OtherSession string
	// Project is the project of questions outside any task.
	Project string
	// AskTool is the name of the tool ask_user, for a client that takes that name for a
	// tool of its own; empty is ask_user.
	AskTool string
	// ApproveWait is how long a permission prompt waits for a person before it
	// is denied for the time being; 0 takes DefaultApproveWait, and less does not wait.
	ApproveWait time.Duration
	// ProgressEvery is the pause between two signs of life of a call that
	// waits; 0 takes 10 seconds.
	ProgressEvery time.Duration
	Version       string
	Log           *slog.Logger
	// AtDesk says that a person sits at the agent: nothing resumes it by itself.
	AtDesk bool
	// Told is called when the agent of a session was told how its question stands.
	Told func(session string, q *fermata.Question)
	// Stopping ends waits early, when the server is about to stop.
	Stopping <-chan struct{}
}

// askTool is the usual name of the tool that asks.
const askTool = "ask_user"

// DefaultApproveWait is below the minute after which the first client gives a
// silent call up.
const DefaultApproveWait = 50 * time.Second

// Server answers the tool calls of agents.
type Server struct {
	Options
	mcp *mcp.Server
}

// New returns a server with every tool.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.ProgressEvery <= 0 {
		o.ProgressEvery = 10 * time.Second
	}
	if o.ApproveWait == 0 {
		o.ApproveWait = DefaultApproveWait
	}
	o.AskTool = cmp.Or(o.AskTool, askTool)
	s := &Server{Options: o}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "fermata", Title: "Fermata", Version: o.Version}, &mcp.ServerOptions{
		Instructions: strings.ReplaceAll(fermata.AgentGuidance(o.place()), askTool, o.AskTool), Logger: o.Log, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	for _, t := range s.tools() {
		s.mcp.AddTool(t.tool, t.handle)
	}
	return s
}

// place is where the server's agents are.
func (o *Options) place() fermata.AgentPlace {
	switch {
	case o.AtDesk:
		return fermata.AtDesk
	case o.Task != "":
		return fermata.InWorker
	default:
		return fermata.InHost
	}
}

// ServeIO serves one client over a pair of streams until it goes away.
func (s *Server) ServeIO(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	return s.mcp.Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
}

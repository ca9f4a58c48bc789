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

// Options configure a server. Only Backend is required.
type Options struct {
	// Backend returns the backend of the caller of a request.
	Backend func(*mcp.CallToolRequest) (Backend, error)
	// Task is the task to which questions belong. If it is empty, all questions
	// of a session share a task.
	Task string
	// RunID is the run of that task, if there is one.
	RunID string
	// Session is the key of the agent's session. If it is empty, the key that
	// the client sends is used, else OtherSession.
	Session, OtherSession string
	// Project is the project of questions outside any task.
	Project string
	// AskTool is the name of the tool that asks; empty means ask_user. Set
	// another name for a client that has its own tool ask_user.
	AskTool string
	// ApproveWait is how long a permission prompt waits for a person before it
	// is denied for the time being. 0 means DefaultApproveWait. A negative
	// value means no wait.
	ApproveWait time.Duration
	// ProgressEvery is the time between two progress notifications of a call
	// that waits; 0 means 10 seconds.
	ProgressEvery time.Duration
	Version       string
	Log           *slog.Logger
	// AtDesk says that a person sits at the agent, so nothing resumes the agent
	// by itself.
	AtDesk bool
	// OnTold is called after the agent of a session was told the state of a
	// question.
	OnTold func(session string, q *fermata.Question)
	// Stopping is closed when the server is about to stop. Waits then end
	// early.
	Stopping <-chan struct{}
}

// askTool is the usual name of the tool that asks.
const askTool = "ask_user"

// DefaultApproveWait is less than one minute, because some clients give up a
// silent call after that time.
const DefaultApproveWait = 50 * time.Second

// Server answers the tool calls of agents.
type Server struct {
	Options
	mcp *mcp.Server
}

// New returns a server with all tools.
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
		Instructions: strings.ReplaceAll(fermata.AgentGuidance(o.agentPlace()), askTool, o.AskTool), Logger: o.Log, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	for _, t := range s.tools() {
		s.mcp.AddTool(t.definition, t.handle)
	}
	return s
}

// agentPlace returns where the agents of this server run.
func (o *Options) agentPlace() fermata.AgentHost {
	switch {
	case o.AtDesk:
		return fermata.HostDesk
	case o.Task != "":
		return fermata.HostWorker
	default:
		return fermata.HostUnknown
	}
}

// ServeIO serves one client over a pair of streams until the client goes away
// or ctx ends.
func (s *Server) ServeIO(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	return s.mcp.Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
}

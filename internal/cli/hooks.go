package cli

import (
	"context"
	"runtime/debug"
	"time"
)

// Hooks are the commands that need more than the API. The program fills them
// in; a command whose hook is nil says that it is not part of this build.
type Hooks struct {
	Serve   func(context.Context, ServeOptions) error
	Worker  func(context.Context, WorkerOptions) error
	Migrate func(context.Context, MigrateOptions) error
	Demo    func(context.Context, DemoOptions) error
	MCP     func(context.Context, MCPOptions) error
	// Version is what --version prints; empty reads it from the build.
	Version string
}

// ServeOptions are the flags of `fermata serve`.
type ServeOptions struct {
	Listen     string
	Data       string
	Database   string
	Workers    int
	SingleUser bool
	// NewAdminToken prints a new admin's token.
	NewAdminToken bool
	LogLevel      string
	LogFormat     string
	// WorkDir and AgentOptions are for the workers inside the server.
	WorkDir string
	AgentOptions
}

// AgentOptions say what a worker runs as its agent.
type AgentOptions struct {
	// Runners are their names; Program is the agent program, where it is not
	// found by its own name.
	Runners []string
	Program string
	// Command is the program of the runner command, else further arguments.
	Command           []string
	AllowTaskCommands bool
	RunTimeout        time.Duration
	// LiveWait is how long an agent of the runner acp is kept alive for an answer.
	LiveWait time.Duration
	PassEnv  []string
	// Token is what agents get in FERMATA_TOKEN.
	Token string
}

// WorkerOptions are the flags of `fermata worker`.
type WorkerOptions struct {
	URL, Token string
	Name       string
	Projects   []string
	Agents     []string
	// Concurrency is how many tasks run at the same time.
	Concurrency int
	Lease       time.Duration
	WorkDir     string
	Folder      string
	// OnCompleted is commit or keep, OnFailed rollback or keep.
	OnCompleted, OnFailed string
	// Once stops the worker as soon as there is nothing to claim.
	Once     bool
	LogLevel string
	AgentOptions
}

// MCPOptions are the flags of `fermata mcp`.
type MCPOptions struct {
	URL, Token string
	// Configured reports whether somebody named the server; else one may be
	// started.
	Configured bool
	// Task is the task that questions belong to. Where there is none, Session
	// is the agent's session, OtherSession that of an agent which names none,
	// and Project the project.
	Task, Session, OtherSession, Project string
	// AskTool is the name of the tool that asks.
	AskTool string
	// Listen and Data are the address and the folder of a server that is
	// started.
	Listen, Data string
	// ApproveWait is how long a permission prompt waits for a person.
	ApproveWait time.Duration
	LogLevel    string
}

// MigrateOptions are the flags of `fermata migrate`.
type MigrateOptions struct {
	Data     string
	Database string
}

// DemoOptions are the flags of `fermata demo`.
type DemoOptions struct {
	// Answer answers the demo's question; empty waits for the person.
	Answer string
	// Data is the folder to keep; empty uses one that is removed at the end.
	Data   string
	Listen string
}

func (h Hooks) version() string { return Version(h.Version) }

// Version returns the version that was set, else the one of the build.
func Version(set string) string {
	if set != "" {
		return set
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

package cli

import (
	"context"
	"encoding/json"
	"runtime/debug"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/workflow"
	"github.com/fermata-hq/fermata/internal/config"
)

// Hooks holds the functions of the commands that need more than the API. The program sets them. A command whose hook
// is nil reports that it is not part of this build.
type Hooks struct {
	Serve   func(context.Context, config.Server) error
	Worker  func(context.Context, config.Worker) error
	Migrate func(context.Context, config.Storage) error
	// AcceptLoss accepts a database that lost acknowledged writes.
	AcceptLoss func(context.Context, config.AcceptLoss) error
	// RotateKeys creates a new master key and seals all secrets with it.
	RotateKeys func(context.Context, config.Storage) error
	Demo       func(context.Context, config.Demo) error
	MCP        func(context.Context, config.MCP) error
	// CheckAgent checks an agent program. The error says why the check could not be run.
	CheckAgent func(context.Context, AgentCheckOptions) ([]AgentCheckResult, error)
	// CheckWorkflow returns the problems of a definition, without a server.
	CheckWorkflow func(source []byte) fermata.WorkflowCheck
	// CheckTool returns the problems of a tool of a workspace.
	CheckTool func(*fermata.NamedTool) error
	// WorkflowSchema returns the JSON Schema of definitions.
	WorkflowSchema func() json.RawMessage
	// SimulateWorkflow runs a definition with scripted answers.
	SimulateWorkflow func(context.Context, workflow.SimulationInput) (*fermata.TestReport, error)
	// Version is the version that --version prints. If it is empty, the build information gives it.
	Version string
}

func (h Hooks) version() string { return Version(h.Version) }

// Version returns the version that was set, or else the version of the build.
func Version(set string) string {
	if set != "" {
		return set
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

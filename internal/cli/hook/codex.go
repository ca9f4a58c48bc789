package hook

import (
	"context"
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

type codexCommand struct {
	gateFlags
}

func (codexCommand) Help() string {
	return `Reads the event on standard input: PreToolUse is gated, PermissionRequest is mirrored to the inbox. In a worker, a call that a person has to decide is refused and the run stops until it is decided. On any trouble it ends with 2, and the tool does not run.

Examples:

    fermata install codex
    fermata hook codex --strict < event.json`
}

// codex defines how hooks talk to Codex. An empty reply is the only approval
// without edits that Codex accepts. A hook cannot make Codex show its own
// dialog.
var codex = gateDialect{
	runner: "codex", beforeEvent: "PreToolUse", mcpPrefix: "mcp__" + OwnServerName + "__",
	verdictReply: func(_ *event, v *fermata.GateReply) (any, error) {
		if v.Decision == fermata.GateAllow && len(v.Input) == 0 {
			return nil, nil
		}
		return preToolUseOutput(v), nil
	},
	permissionReply: func(v *fermata.GateReply) (any, error) {
		if len(v.Input) > 0 {
			return nil, fmt.Errorf("it was approved with edits, which Codex cannot take here")
		}
		return permissionOutput(v), nil
	},
}

func (c *codexCommand) Run(ctx context.Context, s *session.Session) error {
	return runGate(ctx, s, c.gateFlags, codex)
}

package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
)

type hookClaudeDeskCommand struct {
	gateFlags
}

func (hookClaudeDeskCommand) Help() string {
	return `Reads the event on standard input: PreToolUse is gated by the rules, PermissionRequest is mirrored to the inbox, and whoever answers first decides. In a worker it stands aside: the worker has gates of its own.

Examples:

    fermata install claude
    fermata hook claude-desk --wait 5m < event.json`
}

// claudeDesk is how Claude Code is talked to at a desk.
var claudeDesk = gateDialect{
	runner: "claude", before: "PreToolUse", mcpPrefix: "mcp__" + ownServer + "__", asks: true,
	decide: func(_ *hookEvent, v *fermata.GateVerdict) (any, error) { return preToolUse(v), nil },
	permit: func(v *fermata.GateVerdict) (any, error) { return permissionRequest(v), nil },
}

func (c *hookClaudeDeskCommand) Run(ctx context.Context, s *session) error {
	if c.Task != "" {
		return nil
	}
	return s.gateHook(ctx, c.gateFlags, claudeDesk)
}

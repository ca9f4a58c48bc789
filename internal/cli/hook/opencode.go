package hook

import (
	"context"
	"encoding/json"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

type openCodeCommand struct {
	gateFlags
}

func (openCodeCommand) Help() string {
	return `Reads an event on standard input, which the plugin of fermata install or of a worker's run writes: opencode itself has no command hooks. What it says is a decision; on any trouble it ends with 2, and the tool does not run.

Examples:

    echo '{"hook_event_name":"tool.execute.before","session_id":"s","tool_name":"bash","tool_input":{"command":"ls"}}' |
        fermata hook opencode --strict`
}

// openCodeOutput is the reply of a hook that the plugin reads.
type openCodeOutput struct {
	Decision fermata.GateDecision `json:"decision"`
	Reason   string               `json:"reason,omitempty"`
	Input    json.RawMessage      `json:"input,omitempty"`
}

// openCode defines how hooks talk to the plugin of opencode.
var openCode = gateDialect{
	runner: "opencode", beforeEvent: "tool.execute.before", mcpPrefix: OwnServerName + "_",
	verdictReply: func(_ *event, v *fermata.GateReply) (any, error) {
		return openCodeOutput{Decision: v.Decision, Reason: v.Reason, Input: v.Input}, nil
	},
}

func (c *openCodeCommand) Run(ctx context.Context, s *session.Session) error {
	return runGate(ctx, s, c.gateFlags, openCode)
}

package hook

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

type geminiCommand struct {
	gateFlags
}

func (geminiCommand) Help() string {
	return `Reads an event on standard input. BeforeTool is gated: on any trouble it ends with 2, and the tool does not run. In a worker, a call that a person has to decide ends the turn, and so does AfterTool when the agent asked something that waits.

Examples:

    fermata install gemini
    fermata hook gemini --strict < event.json`
}

// geminiOutput is the reply of a hook that Gemini CLI reads.
type geminiOutput struct {
	Decision string                `json:"decision"`
	Reason   string                `json:"reason,omitempty"`
	Specific *geminiSpecificOutput `json:"hookSpecificOutput,omitempty"`
}

type geminiSpecificOutput struct {
	Event string          `json:"hookEventName"`
	Input json.RawMessage `json:"tool_input"`
}

var gemini = gateDialect{
	runner: "gemini", beforeEvent: "BeforeTool", afterEvent: "AfterTool", mcpPrefix: "mcp_" + OwnServerName + "_",
	verdictReply: func(in *event, v *fermata.GateReply) (any, error) {
		if v.Decision != fermata.GateAllow {
			return geminiOutput{Decision: "deny", Reason: v.Reason}, nil
		}
		if len(v.Input) == 0 {
			return nil, nil
		}
		if err := checkArgumentsKept(in.Input, v.Input); err != nil {
			return nil, err
		}
		return geminiOutput{Decision: "allow", Reason: v.Reason, Specific: &geminiSpecificOutput{"BeforeTool", v.Input}}, nil
	},
	endTurn: func(h *gateHook, question string) (any, error) {
		return stopReply(question), h.writeRunFile(agent.StoppedFile, question)
	},
}

// checkArgumentsKept refuses an edit that removes an argument. Gemini CLI would put
// the argument back, and run a call that nobody approved.
func checkArgumentsKept(before, after json.RawMessage) error {
	var asked, edited map[string]json.RawMessage
	if json.Unmarshal(before, &asked) != nil || json.Unmarshal(after, &edited) != nil {
		return fmt.Errorf("the edited arguments are no object")
	}
	for name := range asked {
		if _, ok := edited[name]; !ok {
			return fmt.Errorf("it was approved without the argument %q, which Gemini CLI would put back; make the call without it", name)
		}
	}
	return nil
}

func (c *geminiCommand) Run(ctx context.Context, s *session.Session) error {
	return runGate(ctx, s, c.gateFlags, gemini)
}

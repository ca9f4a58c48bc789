package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/fermata-hq/fermata"
)

type hookGeminiCommand struct {
	gateFlags
}

func (hookGeminiCommand) Help() string {
	return `Reads an event on standard input. BeforeTool is gated: on any trouble it ends with 2, and the tool does not run. AfterTool ends the turn of a worker's agent when it asked something that waits for a person.

Examples:

    fermata install gemini
    fermata hook gemini --strict < event.json`
}

// geminiOutput is what Gemini CLI reads.
type geminiOutput struct {
	Decision string          `json:"decision"`
	Reason   string          `json:"reason,omitempty"`
	Specific *geminiSpecific `json:"hookSpecificOutput,omitempty"`
}

type geminiSpecific struct {
	Event string          `json:"hookEventName"`
	Input json.RawMessage `json:"tool_input"`
}

var gemini = gateDialect{
	runner: "gemini", before: "BeforeTool", mcpPrefix: "mcp_" + ownServer + "_", afterOwn: stopGemini,
	decide: func(in *hookEvent, v *fermata.GateVerdict) (any, error) {
		if v.Decision != fermata.GateAllow {
			return geminiOutput{Decision: "deny", Reason: v.Reason}, nil
		}
		if len(v.Input) == 0 {
			return nil, nil
		}
		if err := keepsEveryName(in.Input, v.Input); err != nil {
			return nil, err
		}
		return geminiOutput{Decision: "allow", Reason: v.Reason, Specific: &geminiSpecific{"BeforeTool", v.Input}}, nil
	},
}

// geminiStop ends the turn of the agent.
type geminiStop struct {
	Continue   bool   `json:"continue"`
	StopReason string `json:"stopReason"`
}

// stopGemini stops the agent of a worker after a question that waits for a
// person. The reason is what the agent reads as the result of its call.
func stopGemini(in *hookEvent) any {
	if in.Event != "AfterTool" || os.Getenv("FERMATA_RUN") == "" {
		return nil
	}
	switch in.MCPContext.Tool {
	case "ask_person", "ask_user", "request_approval":
	default:
		return nil
	}
	var asked struct {
		Type fermata.QuestionType `json:"type"`
	}
	// What the tool was given is not read strictly: the server did that.
	_ = json.Unmarshal(in.Input, &asked)
	id, pending := pendingIn(in.Response.Display)
	if !pending || asked.Type == fermata.NonBlocking {
		return nil
	}
	return geminiStop{StopReason: "waiting for a person: " + id}
}

// keepsEveryName refuses an edit that takes an argument away: Gemini CLI would
// put it back, and run what nobody approved.
func keepsEveryName(before, after json.RawMessage) error {
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

func (c *hookGeminiCommand) Run(ctx context.Context, s *session) error {
	return s.gateHook(ctx, c.gateFlags, gemini)
}

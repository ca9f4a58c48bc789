package hook

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/strictjson"
)

// maxHookInput is the largest input of a hook on standard input, in bytes.
const maxHookInput = 8 << 20

// sessionStart is the event at which a session starts or continues.
const sessionStart = "SessionStart"

// event is the event that a program writes to the hook's standard input.
type event struct {
	Name      string          `json:"hook_event_name"`
	SessionID string          `json:"session_id"`
	Dir       string          `json:"cwd"`
	Tool      string          `json:"tool_name"`
	Input     json.RawMessage `json:"tool_input"`
	CallID    string          `json:"tool_use_id"`
	// Response is the result of the tool, after the tool ran.
	Response json.RawMessage `json:"tool_response"`
	// Mode is the permission mode of Claude Code: what its agent may do without asking.
	Mode       string `json:"permission_mode"`
	MCPContext struct {
		Server string `json:"server_name"`
		Tool   string `json:"tool_name"`
	} `json:"mcp_context"`

	// workDir is the folder below which the agent may write without asking. It is not the folder in the event, because
	// the agent can change that one.
	workDir string
}

// readEvent reads an event. It refuses JSON that two readers could understand differently.
func readEvent(s *session.Session) (in event, err error) {
	data, err := io.ReadAll(io.LimitReader(s.Lines, maxHookInput+1))
	switch {
	case err != nil:
		return in, fmt.Errorf("read the call: %w", err)
	case len(data) > maxHookInput:
		return in, fmt.Errorf("the call has more than %d bytes", maxHookInput)
	}
	if err := strictjson.UnmarshalEnvelope(data, &in); err != nil {
		return in, fmt.Errorf("the call on standard input is not the JSON of a hook: %w", err)
	}
	if in.Tool == "" && !slices.Contains(newsEvents, in.Name) {
		return in, fmt.Errorf("the call names no tool")
	}
	return in, nil
}

// toolTexts returns the texts of an MCP tool's result. Programs pass the result on in several forms: its text, blocks
// of text, the object itself, or one of these as the displayed result.
func toolTexts(response json.RawMessage) []string {
	var text string
	var blocks []struct {
		Text string `json:"text"`
	}
	var shown struct {
		Display json.RawMessage `json:"returnDisplay"`
	}
	switch {
	case json.Unmarshal(response, &text) == nil:
		return []string{text}
	case json.Unmarshal(response, &blocks) == nil:
		all := make([]string, len(blocks))
		for i := range blocks {
			all[i] = blocks[i].Text
		}
		return all
	case json.Unmarshal(response, &shown) == nil && len(shown.Display) > 0:
		return toolTexts(shown.Display)
	default:
		return []string{string(response)}
	}
}

// errorText returns the text of an error with its hint, for an agent.
func errorText(err error) string {
	text := err.Error()
	if e, ok := err.(*fermata.Error); ok && e.Hint != "" { //nolint:errorlint // the client does not wrap its errors
		text += " (" + e.Hint + ")"
	}
	return text
}

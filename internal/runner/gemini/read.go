package gemini

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata/internal/agent"
)

// event is a line of "gemini --output-format stream-json".
type event struct {
	Type      string `json:"type"`
	SessionID string `json:"session_id"`
	Role      string `json:"role"`
	Content   string `json:"content"`
	call
	Output string `json:"output"`
	Status string `json:"status"`
	// Message and Severity belong to an event of the type error.
	Message  string `json:"message"`
	Severity string `json:"severity"`
	Error    *struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// call is a call of a tool.
type call struct {
	ID         string          `json:"tool_id"`
	Tool       string          `json:"tool_name"`
	Parameters json.RawMessage `json:"parameters"`
}

// uncalledErrors are the errors of calls that Gemini CLI could not run. No hook is called for such a call.
var uncalledErrors = []string{"invalid_tool_params", "tool_not_registered", "policy_violation"}

// stoppedError is the error of a call after which a hook stopped the agent.
const stoppedError = "stop_execution"

// reader translates the lines of a turn. Messages come in pieces, and results come separately from their calls.
type reader struct {
	said  strings.Builder
	calls map[string]call
	// paused is true if a hook ended the turn.
	paused bool
}

func (r *reader) read(line []byte) []agent.Event {
	var e event
	if json.Unmarshal(line, &e) != nil {
		return []agent.Event{{Note: string(line)}}
	}
	if e.Type == "message" {
		if e.Role == "assistant" {
			r.said.WriteString(e.Content)
		}
		return nil
	}
	var events []agent.Event
	if text := strings.TrimSpace(r.said.String()); text != "" {
		events = append(events, agent.Event{Said: text, Note: text})
	}
	r.said.Reset()
	return append(events, r.translate(&e))
}

// translate translates an event that is no message.
func (r *reader) translate(e *event) agent.Event {
	switch e.Type {
	case "init":
		return agent.Event{Session: e.SessionID, Acts: true, Note: "session " + e.SessionID}
	case "tool_use":
		r.calls[e.ID] = e.call
		out := agent.Event{Opens: e.ID, Note: agent.OneLine("%s %s", e.Tool, e.Parameters)}
		if e.Tool == "write_todos" {
			out.Progress = agent.TodoProgress(e.Parameters)
		}
		return out
	case "tool_result":
		return r.result(e)
	case "error":
		return agent.Event{Trouble: e.Message}
	case "result":
		out := agent.Event{Ended: true, Paused: r.paused}
		if e.Status == "error" {
			out.Trouble, out.Fatal = "the turn failed", true
			if e.Error != nil {
				out.Trouble = cmp.Or(e.Error.Message, out.Trouble)
			}
		}
		return out
	}
	return agent.Event{}
}

// result handles the end of a call, and whether the agent waits for a person after it.
func (r *reader) result(e *event) agent.Event {
	c := r.calls[e.ID]
	delete(r.calls, e.ID)
	out := agent.Event{Closes: e.ID}
	r.paused = r.paused || e.Error != nil && e.Error.Type == stoppedError
	out.Paused = r.paused
	if e.Error == nil || !slices.Contains(uncalledErrors, e.Error.Type) {
		out.Ran = &agent.FinishedCall{Tool: c.Tool, Failed: e.Status == "error"}
	}
	if tool, ours := strings.CutPrefix(c.Tool, "mcp_fermata_"); ours {
		out.Asked = agent.AwaitedQuestion(tool, c.Parameters, e.Output)
	}
	if e.Status == "error" && e.Error != nil {
		out.Note = agent.OneLine("! %s: %s", c.Tool, e.Error.Message)
	}
	return out
}

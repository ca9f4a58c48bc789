package claude

import (
	"encoding/json"
	"strings"

	"github.com/fermata-hq/fermata"
)

// event is a line of stream-json, as far as it is read.
type event struct {
	Type      string  `json:"type"`
	Subtype   string  `json:"subtype"`
	SessionID string  `json:"session_id"`
	Message   message `json:"message"`
	// Version of the program, in the first event.
	Version string `json:"claude_code_version"`
	outcome
}

// message is what the assistant says, or what came of its calls.
type message struct {
	Content json.RawMessage `json:"content"`
}

// block is a piece of a message.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// outcome is the last event: how the turn ended.
type outcome struct {
	IsError        bool     `json:"is_error"`
	StopReason     string   `json:"stop_reason"`
	TerminalReason string   `json:"terminal_reason"`
	Result         string   `json:"result"`
	Errors         []string `json:"errors"`
	// Deferred is the call that a hook put off.
	Deferred *struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"deferred_tool_use"`
}

// paused reports whether a hook ended the turn.
func (o *outcome) paused() bool {
	return o.TerminalReason == "hook_stopped" || o.StopReason == "tool_deferred" || o.Deferred != nil
}

// words are why the turn failed, as far as it says.
func (o *outcome) words() string {
	return strings.TrimSpace(strings.Join(append(o.Errors, o.Result), "\n"))
}

// blocks returns the pieces of a message; a bare text is one.
func (m message) blocks() []block {
	var blocks []block
	if json.Unmarshal(m.Content, &blocks) == nil {
		return blocks
	}
	var text string
	if json.Unmarshal(m.Content, &text) == nil && text != "" {
		return []block{{Type: "text", Text: text}}
	}
	return nil
}

// describe is a call in one line.
func (b block) describe() string {
	var in map[string]any
	json.Unmarshal(b.Input, &in) //nolint:errcheck // a call without readable input has its name
	for _, key := range []string{"command", "file_path", "pattern", "url", "question", "description", "message", "title"} {
		if text, ok := in[key].(string); ok && text != "" {
			return b.Name + ": " + clip(strings.Join(strings.Fields(text), " "), 300)
		}
	}
	return b.Name
}

// plan is how far the agent is by the list that it keeps for itself.
func (b block) plan() (fermata.Progress, bool) {
	var in struct {
		Todos []struct {
			Content string `json:"content"`
			Status  string `json:"status"`
		} `json:"todos"`
	}
	if b.Name != "TodoWrite" || json.Unmarshal(b.Input, &in) != nil || len(in.Todos) == 0 {
		return fermata.Progress{}, false
	}
	p := fermata.Progress{Message: "All is done.", Total: float64(len(in.Todos))}
	next := false
	for _, todo := range in.Todos {
		switch {
		case todo.Status == "completed":
			p.Current++
		case !next:
			next, p.Message = true, clip(plain(todo.Content), 500)
		}
	}
	return p, p.Message != ""
}

// textOf is the text of a tool's result: a string, or blocks of text.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var blocks []block
	if json.Unmarshal(raw, &blocks) != nil {
		return ""
	}
	texts := make([]string, 0, len(blocks))
	for _, b := range blocks {
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, "\n")
}

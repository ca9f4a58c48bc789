package claude

import (
	"encoding/json"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
)

// reader translates the lines of a turn to events.
type reader struct {
	// announced is the assistant's latest text until the assistant acts.
	announced string
}

func (r *reader) read(line []byte) []agent.Event {
	var e event
	if json.Unmarshal(line, &e) != nil {
		return []agent.Event{{Note: string(line)}}
	}
	switch e.Type {
	case "system":
		if e.Subtype == "init" {
			return []agent.Event{{Session: e.SessionID, Note: "fermata: Claude Code " + e.Version + ", session " + e.SessionID}}
		}
	case "assistant", "user":
		var events []agent.Event
		for _, b := range e.Message.blocks() {
			events = append(events, r.block(b))
		}
		return events
	case "result":
		return []agent.Event{e.endEvent()}
	default:
		// The program reports more than a log needs, and more with every version.
	}
	return nil
}

// block handles a text, a call, or the result of a call.
func (r *reader) block(b block) agent.Event {
	switch b.Type {
	case "text":
		text := strings.TrimSpace(b.Text)
		r.announced = text
		return agent.Event{Said: text, Note: text}
	case "tool_use":
		return agent.Event{Opens: b.ID, Note: agent.OneLine("> %s", b.describe()), Progress: r.progress(b)}
	case "tool_result":
		e := agent.Event{Closes: b.ToolUseID}
		if b.IsError {
			e.Note = "! " + fermata.Truncate(strings.TrimSpace(textOf(b.Content)), 2000)
		}
		if !b.IsError || !strings.HasPrefix(textOf(b.Content), malformedPrefix) {
			e.Ran = &agent.FinishedCall{ID: b.ToolUseID, Failed: b.IsError}
		}
		return e
	default:
		return agent.Event{}
	}
}

// malformedPrefix begins the result of a call that Claude Code could not run. No hook is called for such a call.
const malformedPrefix = "<tool_use_error>"

// progress returns the agent's plan if the agent writes one, or else the text that it said before it acted. Its last
// message is no progress.
func (r *reader) progress(b block) *fermata.Progress {
	first, _, _ := strings.Cut(r.announced, "\n")
	r.announced = ""
	switch {
	case b.Name == "TodoWrite":
		return agent.TodoProgress(b.Input)
	case first == "":
		return nil
	default:
		return &fermata.Progress{Message: first}
	}
}

// event is a line of stream-json, with the fields that are read.
type event struct {
	Type      string  `json:"type"`
	Subtype   string  `json:"subtype"`
	SessionID string  `json:"session_id"`
	Message   message `json:"message"`
	// Version is the version of the program, in the first event.
	Version string `json:"claude_code_version"`
	outcome
}

// message is a message of the assistant, or the results of its calls.
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

// outcome is the last event, which says how the turn ended.
type outcome struct {
	IsError        bool     `json:"is_error"`
	StopReason     string   `json:"stop_reason"`
	TerminalReason string   `json:"terminal_reason"`
	Result         string   `json:"result"`
	Errors         []string `json:"errors"`
	// Deferred is the call that a hook deferred.
	Deferred *struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"deferred_tool_use"`
}

// isPaused reports whether a hook ended the turn.
func (o *outcome) isPaused() bool {
	return o.TerminalReason == "hook_stopped" || o.StopReason == "tool_deferred" || o.Deferred != nil
}

// endEvent returns the event for the end of the turn.
func (o *outcome) endEvent() agent.Event {
	e := agent.Event{Ended: true, Said: strings.TrimSpace(o.Result), Paused: o.isPaused(), Fatal: o.IsError}
	if o.IsError {
		e.Trouble = strings.TrimSpace(strings.Join(append(o.Errors, o.Result), "\n"))
	}
	if o.Deferred != nil {
		e.Deferred = o.Deferred.ID
	}
	return e
}

// blocks returns the pieces of a message. A plain text is one piece.
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

// describe returns a call on one line.
func (b block) describe() string {
	var in map[string]any
	json.Unmarshal(b.Input, &in) //nolint:errcheck // a call without readable input has its name
	for _, key := range []string{"command", "file_path", "pattern", "url", "question", "description", "message", "title"} {
		if text, ok := in[key].(string); ok && text != "" {
			return b.Name + ": " + text
		}
	}
	return b.Name
}

// textOf returns the text of a tool's result: a string, or blocks of text.
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

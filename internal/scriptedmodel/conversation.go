package scriptedmodel

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Role is the author of an item of a conversation.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	// ToolCall and ToolResult are a call by the assistant and its result.
	ToolCall   Role = "call"
	ToolResult Role = "result"
	// System is an instruction in the middle of the conversation.
	System Role = "system"
)

// Entry is one entry of a conversation, the same for every wire format.
type Entry struct {
	Role Role   `json:"role"`
	Text string `json:"text,omitempty"`
	// Name is the tool of a call.
	Name string `json:"name,omitempty"`
	// ID is the id of a call, or of the call that a result belongs to.
	ID string `json:"id,omitempty"`
	// Failed marks a result as an error.
	Failed bool `json:"failed,omitempty"`
}

// Tool is a tool on offer. Namespace is set by clients that group the tools of an MCP server.
type Tool struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// FullName returns the name with its namespace.
func (t Tool) FullName() string { return t.Namespace + t.Name }

// Conversation is a request to the model, the same for every wire format.
type Conversation struct {
	API    string `json:"api"`
	Model  string `json:"model"`
	Stream bool   `json:"stream"`
	// System is the system prompt.
	System  string  `json:"system"`
	Tools   []Tool  `json:"tools"`
	Entries []Entry `json:"items"`
}

// isSideRequest reports whether no tools are on offer. Such a request is not from the agent's main loop.
func (c *Conversation) isSideRequest() bool { return len(c.Tools) == 0 }

// Turns returns the number of the assistant's turns.
func (c *Conversation) Turns() int {
	n, in := 0, false
	for _, it := range c.Entries {
		if it.isByAssistant() && !in {
			n++
		}
		in = it.isByAssistant()
	}
	return n
}

// Last returns the text after the assistant's last turn.
func (c *Conversation) Last() string {
	i := len(c.Entries)
	for i > 0 && !c.Entries[i-1].isByAssistant() {
		i--
	}
	return joinText(c.Entries[i:])
}

// Text returns the text of all items.
func (c *Conversation) Text() string { return joinText(c.Entries) }

// Result returns the result of the call with this id.
func (c *Conversation) Result(id string) (Entry, bool) {
	for _, it := range c.Entries {
		if it.Role == ToolResult && it.ID == id {
			return it, true
		}
	}
	return Entry{}, false
}

// Calls returns the calls of tools whose name ends in suffix.
func (c *Conversation) Calls(suffix string) []Entry {
	var calls []Entry
	for _, it := range c.Entries {
		if it.Role == ToolCall && strings.HasSuffix(it.Name, suffix) {
			calls = append(calls, it)
		}
	}
	return calls
}

func (it Entry) isByAssistant() bool { return it.Role == Assistant || it.Role == ToolCall }

func joinText(items []Entry) string {
	var sb strings.Builder
	for _, it := range items {
		sb.WriteString(it.Text)
		sb.WriteByte('\n')
	}
	return sb.String()
}

// resolve returns the offered tool that a name in a script means.
func (c *Conversation) resolve(name string) (Tool, bool) {
	suffix, loose := strings.CutPrefix(name, "~")
	for _, t := range c.Tools {
		if t.FullName() == name || t.Name == name || (loose && strings.HasSuffix(t.Name, suffix)) {
			return t, true
		}
	}
	return Tool{Name: suffix}, false
}

// capture returns the match of the first group of a regular expression.
func (c *Conversation) capture(expression string) string {
	if expression == "" {
		return ""
	}
	if m := regexp.MustCompile(expression).FindStringSubmatch(c.System + "\n" + c.Text()); len(m) > 1 {
		return m[1]
	}
	return ""
}

func (c *Conversation) hasTool(name string) bool {
	_, ok := c.resolve(name)
	return ok
}

// textOf returns the text of content: a string, or a list of blocks that have a text or a content. Other content is
// returned as JSON.
func textOf(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []struct {
		Type    string          `json:"type"`
		Text    *string         `json:"text"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return string(raw)
	}
	texts := make([]string, 0, len(blocks))
	for _, b := range blocks {
		switch {
		case b.Text != nil:
			texts = append(texts, *b.Text)
		case len(b.Content) > 0:
			texts = append(texts, textOf(b.Content))
		default:
			texts = append(texts, "["+b.Type+"]")
		}
	}
	return strings.Join(texts, "\n")
}

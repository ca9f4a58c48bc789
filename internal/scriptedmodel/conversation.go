package scriptedmodel

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Role says who made an item of a conversation.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	// ToolCall and ToolResult are a call by the assistant and what came of it.
	ToolCall   Role = "call"
	ToolResult Role = "result"
	// System is an instruction that came in the middle of the conversation.
	System Role = "system"
)

// Item is one entry of a conversation, the same for every wire format.
type Item struct {
	Role Role   `json:"role"`
	Text string `json:"text,omitempty"`
	// Name is the tool of a call.
	Name string `json:"name,omitempty"`
	// ID belongs to a call and its result.
	ID string `json:"id,omitempty"`
	// Failed marks a result as an error.
	Failed bool `json:"failed,omitempty"`
}

// Tool is a tool on offer. Namespace is set by clients that group the tools of
// an MCP server.
type Tool struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Full is the name with its namespace.
func (t Tool) Full() string { return t.Namespace + t.Name }

// Conversation is a request to the model, the same for every wire format.
type Conversation struct {
	API    string `json:"api"`
	Model  string `json:"model"`
	Stream bool   `json:"stream"`
	// System is the system prompt.
	System string `json:"system"`
	Tools  []Tool `json:"tools"`
	Items  []Item `json:"items"`
}

// isSide reports that no tools are on offer: it is not the agent's main loop.
func (c *Conversation) isSide() bool { return len(c.Tools) == 0 }

// Turns counts the assistant's turns.
func (c *Conversation) Turns() int {
	n, in := 0, false
	for _, it := range c.Items {
		if it.byAssistant() && !in {
			n++
		}
		in = it.byAssistant()
	}
	return n
}

// Last is the text after the assistant's last turn.
func (c *Conversation) Last() string {
	i := len(c.Items)
	for i > 0 && !c.Items[i-1].byAssistant() {
		i--
	}
	return joinText(c.Items[i:])
}

// Text is the text of all items.
func (c *Conversation) Text() string { return joinText(c.Items) }

// Result returns what came of the call with this id.
func (c *Conversation) Result(id string) (Item, bool) {
	for _, it := range c.Items {
		if it.Role == ToolResult && it.ID == id {
			return it, true
		}
	}
	return Item{}, false
}

// Calls returns the calls of the tool whose name ends so.
func (c *Conversation) Calls(suffix string) []Item {
	var calls []Item
	for _, it := range c.Items {
		if it.Role == ToolCall && strings.HasSuffix(it.Name, suffix) {
			calls = append(calls, it)
		}
	}
	return calls
}

func (it Item) byAssistant() bool { return it.Role == Assistant || it.Role == ToolCall }

func joinText(items []Item) string {
	var sb strings.Builder
	for _, it := range items {
		sb.WriteString(it.Text)
		sb.WriteByte('\n')
	}
	return sb.String()
}

// resolve returns the offered tool that a script's name means.
func (c *Conversation) resolve(name string) (Tool, bool) {
	suffix, loose := strings.CutPrefix(name, "~")
	for _, t := range c.Tools {
		if t.Full() == name || t.Name == name || (loose && strings.HasSuffix(t.Name, suffix)) {
			return t, true
		}
	}
	return Tool{Name: suffix}, false
}

// capture returns what the first group of a regular expression finds.
func (c *Conversation) capture(expression string) string {
	if expression == "" {
		return ""
	}
	if m := regexp.MustCompile(expression).FindStringSubmatch(c.System + "\n" + c.Text()); len(m) > 1 {
		return m[1]
	}
	return ""
}

func (c *Conversation) offers(name string) bool {
	_, ok := c.resolve(name)
	return ok
}

// textOf makes a text of content: a string, or a list of blocks that have a
// text or content of their own. Anything else stays JSON.
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

//go:build unix

package acp

import (
	"cmp"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
)

// silentHandle is a handle without messages.
type silentHandle struct{}

func (silentHandle) Dir() string                          { return "" }
func (silentHandle) Log() io.Writer                       { return io.Discard }
func (silentHandle) Progress(fermata.Progress)            {}
func (silentHandle) Inbox() <-chan *fermata.ResumeContext { return nil }
func (silentHandle) KeepSession(fermata.Session)          {}

// Only Fermata's own tools run without asking, by their exact names, whatever else a call says about itself.
func TestOwnTools(t *testing.T) {
	t.Parallel()
	meta := func(name, more string) string { return `{"claudeCode":{"toolName":"` + name + `"` + more + `}}` }
	const explained = `,"content":[{"type":"content","content":{"type":"text","text":`
	tests := []struct {
		name, announced, asked string
		want                   bool
	}{
		{"opencode", ``, `{"title":"fermata_ask_person","kind":"other"}`, true},
		{"opencode, announced", `{"title":"fermata_ask_person","kind":"other"}`, `{"title":"fermata_ask_person"}`, true},
		{"gemini", ``, `{"title":"ask_person (fermata MCP Server)","kind":"other"}`, true},
		{"gemini, explained", ``, `{"title":"ask_person (fermata MCP Server)","kind":"other"` + explained + `"{\"question\":\"Which?\"}"}}]}`, true},
		{"gemini, cut", ``, `{"title":"ask_person (fermata MCP Server)","kind":"other"` + explained + `"[Payload omitted due to length with parameters: question, options]"}}]}`, true},
		{"gemini, by its id", ``, `{"toolCallId":"mcp_fermata_ask_person-1764-1","title":"ask_person (fermata MCP Server)","kind":"other"` + explained + `"[Payload omitted due to length with parameters: a, b, c, d, e, ...]"}}]}`, true},
		{"gemini, a command called so", ``, `{"title":"ask_person (fermata MCP Server)","kind":"other"` + explained + `"{\"command\":\"ask_person (fermata MCP Server)\"}"}}]}`, false},
		{"gemini, a command left out", ``, `{"title":"ask_person (fermata MCP Server)","kind":"other"` + explained + `"[Payload omitted due to length with parameters: a, b, c, d, e, ...]"}}]}`, false},
		{"gemini, a command among the names", ``, `{"title":"ask_person (fermata MCP Server)","kind":"other"` + explained + `"[Payload omitted due to length with parameters: a, command]"}}]}`, false},
		{"claude", ``, `{"title":"mcp__fermata__ask_person","_meta":` + meta("mcp__fermata__ask_person", `,"mcpServer":{"name":"fermata","source":"dynamic"}`) + `}`, true},
		{"claude, announced", `{"title":"x","kind":"other","_meta":` + meta("mcp__fermata__ask_person", "") + `}`, `{"title":"x"}`, true},
		{"every tool", ``, `{"title":"x","_meta":` + meta("mcp__fermata__check_answer", "") + `}`, true},

		{"a command called so", ``, `{"title":"fermata_ask_person","kind":"execute"}`, false},
		{"a command called so, announced", `{"title":"fermata_ask_person","kind":"execute"}`, `{"title":"fermata_ask_person"}`, false},
		{"a title beside another name", ``, `{"title":"fermata_ask_person","kind":"other","_meta":` + meta("Bash", "") + `}`, false},
		{"a title beside another announced name", `{"title":"x","_meta":` + meta("Bash", "") + `}`, `{"title":"fermata_ask_person","kind":"other"}`, false},
		{"a title that is the name", ``, `{"title":"mcp__fermata__ask_person","kind":"other"}`, false},
		{"another server", ``, `{"title":"x","_meta":` + meta("mcp__evil__ask_person", "") + `}`, false},
		{"a server that begins so", ``, `{"title":"x","_meta":` + meta("mcp__fermata__x__ask_person", "") + `}`, false},
		{"a name that is the server's, of another", ``, `{"title":"x","_meta":` + meta("mcp__fermata__ask_person", `,"mcpServer":{"name":"fermata_","source":"dynamic"}`) + `}`, false},
		{"a file of the project that has the name", ``, `{"title":"x","_meta":` + meta("mcp__fermata__ask_person", `,"mcpServer":{"name":"fermata","source":"project"}`) + `}`, false},
		{"a name that changes", `{"title":"x","_meta":` + meta("Bash", "") + `}`, `{"title":"x","_meta":` + meta("mcp__fermata__ask_person", "") + `}`, false},
		{"no tool of ours", ``, `{"title":"x","_meta":` + meta("mcp__fermata__delete", "") + `}`, false},
		{"the permission prompt", ``, `{"title":"x","_meta":` + meta("mcp__fermata__approve", "") + `}`, false},
		{"metadata of another form", ``, `{"title":"x","_meta":[1]}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := &conversation{r: &Runner{opts: Options{Options: agent.Options{Fermata: "/bin/fermata"}}}, session: newSession(silentHandle{})}
			if tt.announced != "" {
				u := &update{}
				if err := json.Unmarshal([]byte(tt.announced), u); err != nil {
					t.Fatal(err)
				}
				u.ToolCallID = "c1"
				c.session.addCall(u)
			}
			p := &permission{}
			if err := json.Unmarshal([]byte(tt.asked), &p.ToolCall); err != nil {
				t.Fatal(err)
			}
			p.ToolCall.ID = cmp.Or(p.ToolCall.ID, "c1")
			if strings.HasPrefix(tt.name, "gemini") {
				c.session.setProgram(geminiName)
			}
			if got := c.isOwnTool(p); got != tt.want {
				t.Errorf("own: %t, want %t", got, tt.want)
			}
		})
	}
}

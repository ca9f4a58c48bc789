package hook

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/cli/session"
)

// FuzzHook gives any input to the hooks while the server gives no useful reply. If a hook ends with another code than
// exitBlocked, then the input is one of three things: not a call before it runs, a call of Fermata's own tools, or a
// dialog at a desk without a reply.
func FuzzHook(f *testing.F) {
	programs := []gateDialect{claude, codex, gemini, openCode}
	for i, p := range programs {
		for _, worker := range []bool{true, false} {
			for _, event := range []string{p.beforeEvent, p.afterEvent, "", sessionStart, turnStop, "PermissionRequest"} {
				for _, tool := range []string{"Bash", "Read", "AskUserQuestion", p.mcpPrefix + "ask_user", ""} {
					call := strings.Replace(ClaudeCallOf(tool, `{"questions":[{"question":"Which?"}]}`), "PreToolUse", event, 1)
					f.Add(uint8(i), worker, []byte(call))
				}
			}
		}
	}
	f.Add(uint8(2), true, []byte(`{"hook_event_name":"AfterTool","tool_name":"x","mcp_context":{"server_name":"fermata"},"tool_response":{"returnDisplay":[]}}`))
	f.Add(uint8(0), true, []byte(`{"tool_name":"Bash"}`))
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotImplemented) }))
	f.Cleanup(broken.Close)
	f.Setenv("HOME", f.TempDir())
	f.Setenv("XDG_STATE_HOME", f.TempDir())
	f.Fuzz(func(t *testing.T, program uint8, worker bool, data []byte) {
		p, flags := programs[int(program)%len(programs)], gateFlags{Worker: worker}
		if worker {
			flags.Task = "task_1"
		}
		var out, talk bytes.Buffer
		s := session.New(bytes.NewReader(data), &out, &talk, "")
		s.URL = broken.URL
		if code := s.Finish(t.Context(), runGate(t.Context(), s, flags, p)); code == exitBlocked {
			return
		}
		var e event
		if err := json.Unmarshal(data, &e); err != nil {
			t.Fatalf("%s passes: %q", p.runner, data)
		}
		own := e.MCPContext.Server == OwnServerName || strings.HasPrefix(e.Tool, p.mcpPrefix)
		switch {
		case own, worker && e.Name == sessionStart, worker && e.Name != "" && e.Name == p.afterEvent:
		case !worker && slices.Contains(newsEvents, e.Name), !worker && e.Name == "PermissionRequest" && p.permissionReply != nil && out.Len() == 0:
		default:
			t.Errorf("%s passes: %q", p.runner, data)
		}
	})
}

package hook

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata/internal/cli/session"
)

// claudeCall is a call as Claude Code sends it.
const claudeCall = `{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"%TOOL%","tool_use_id":"toolu_1","tool_input":%INPUT%}`

func ClaudeCallOf(tool, input string) string {
	return strings.NewReplacer("%TOOL%", tool, "%INPUT%", input).Replace(claudeCall)
}

// If a server becomes silent during a wait, the hook still ends before the timeout of the program. These programs run
// a tool whose hook is late.
func TestHookEndsInTime(t *testing.T) {
	t.Parallel()
	silent := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/gates") {
			_, _ = w.Write([]byte(`{"decision":"ask","question_id":"q_1","status":"pending"}`))
			return
		}
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-silent
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(silent) })
	impatient := codex
	impatient.timeout = 50 * time.Millisecond

	var out, talk bytes.Buffer
	s := session.New(strings.NewReader(ClaudeCallOf("Bash", `{"command":"ls"}`)), &out, &talk, "")
	s.URL = server.URL
	err := runGate(t.Context(), s, gateFlags{Wait: 50 * time.Millisecond, Strict: true}, impatient)
	if code := s.Finish(t.Context(), err); code != exitBlocked || out.Len() != 0 || !strings.Contains(talk.String(), "may not run") {
		t.Errorf("got %d, %q and %q", code, out.String(), talk.String())
	}
}

package mcpserver_test

import (
	"strings"
	"testing"
)

// An agent without a worker is not told that it stops and is resumed, because
// nobody resumes it.
func TestWordsForWorkersStayWithWorkers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.connectOutside(versions["without"], withHeaders{"Authorization": "Bearer " + w.agent})
	r, ok := a.call("ask_user", `{"question":"?","wait_seconds":601}`)
	said := r.Error.Hint
	if ok || !strings.Contains(said, "check_answer") {
		t.Errorf("the agent is told %q", said)
	}
	denied := a.prompt(`{"tool_name":"Bash","input":{"command":"rm -r old"},"tool_use_id":"c"}`)
	if text, _ := denied["message"].(string); !strings.Contains(text, "check_answer") {
		t.Errorf("the agent is told %q", text)
	} else {
		said += text
	}
	if strings.Contains(said, "resumed") || strings.Contains(strings.ToLower(said), "stop now") {
		t.Errorf("the agent is told %q", said)
	}
}

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/cli/clitest"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// If a command could accept a request only by dropping a part of it, it refuses the request, and the error names that
// part.
func TestNothingIsDroppedInSilence(t *testing.T) {
	t.Parallel()
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "request.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"ask", "Go?", "--wait=0"}, "--wait"},
		{[]string{"ask", "Go?", "--wait=1"}, "--wait"},
		{[]string{"ask", "Go?", "--wait=0s"}, "--wait"},
		{[]string{"ask", "Go?", "--wait", "--no-wait"}, "--no-wait"},
		{[]string{"ask", "Go?", "--wait=10m", "--no-wait"}, "--no-wait"},
		{[]string{"workflow", "run", "release", "--wait=0"}, "--wait"},
		{[]string{"ask", "Go?", "--metadata", "a=1", "--metadata", "a=2"}, "--metadata a is given twice"},
		{[]string{"ask", "Go?", "--metadata=a=1", "--metadata", "a=1"}, "--metadata a is given twice"},
		{[]string{"member", "add", "bob", "--project", "web=viewer", "--project", "web=admin"}, "--project web is given twice"},
		{[]string{"member", "set", "bob", "--project", "web=viewer", "--project", "web=admin"}, "--project web is given twice"},
		{[]string{"channel", "add", "email", "mail", "host=a", "host=b"}, "host is given twice"},
		{[]string{"channel", "set", "email", "host=a", "host=b"}, "host is given twice"},
		{[]string{"policy", "set", "min_timeout=1m", "min_timeout=2m"}, "min_timeout is given twice"},
		{[]string{"serve", "--workdir", ".", "--runner", "claude", "--", "agent"}, "does not read --runner, an agent program, --workdir"},
		{[]string{"worker", "--program", "agent", "--", "agent"}, "--program"},
		{[]string{"worker", "--runner", "claude", "--live-wait", "5m"}, "--live-wait"},
		{[]string{"worker", "--runner", "claude", "--allow-unknown-agent"}, "--allow-unknown-agent"},
		{[]string{"worker", "--concurrency", "0", "--", "agent"}, "--concurrency"},
		{[]string{"worker", "--concurrency=-1", "--", "agent"}, "--concurrency"},
		{[]string{"worker", "--lease", "0s", "--", "agent"}, "--lease must be between 1s and 1h0m0s, and not 0s"},
		{[]string{"worker", "--lease", "2h", "--", "agent"}, "--lease"},
		{[]string{"worker", "--run-timeout=-5s", "--", "agent"}, "--run-timeout must be at least 0s, and not -5s"},
		{[]string{"worker", "--runner", "acp", "--live-wait=-5s", "--", "agent"}, "--live-wait"},
		{[]string{"worker", "--pass-env", "A=B", "--", "agent"}, "--pass-env takes the name of a variable"},
		{[]string{"worker", "--concurency", "2", "--", "agent"}, "unknown flag --concurency"},
		{[]string{"worker", "--runner", "claude", "--model", "opus"}, "unknown flag --model"},
		{[]string{"serve", "--workers", "1", "--isolated", "--", "agent"}, "unknown flag --isolated"},
		{[]string{"serve", "--workers=-1"}, "--workers"},
		{[]string{"serve", "--isolated"}, "unknown flag --isolated"},
		{[]string{"mcp", "--approve-wait=-1s"}, "--approve-wait"},
		{[]string{"hook", "codex", "--wait=-1s"}, "--wait must be at least 0s, and not -1s"},
		{[]string{"ask", "-"}, "@-"},
		{[]string{"ask", "Go?", "--title", "-"}, "@-"},
		{[]string{"ask", "Go?", "--step", "-"}, "@-"},
		{[]string{"ask", "Go?", "--body", "-"}, "@-"},
		{[]string{"ask", "Go?", "--state", "-"}, "@-"},
		{[]string{"ask", "Go?", "--context", "-"}, "@-"},
		{[]string{"ask", "Go?", "--error", "-"}, "@-"},
		{[]string{"ask", "Go?", "--action", "-"}, "@-"},
		{[]string{"ask", "Go?", "--escalation", "-"}, "@-"},
		{[]string{"create", "-"}, "@-"},
		{[]string{"create", "Paint", "--body", "-"}, "@-"},
		{[]string{"create", "Paint", "--spec", "-"}, "@-"},
		{[]string{"message", "task_1", "-"}, "@-"},
		{[]string{"clarify", "q_1", "-"}, "@-"},
		{[]string{"comment", "q_1", "-"}, "@-"},
		{[]string{"cancel", "q_1", "-m", "-"}, "@-"},
		{[]string{"resume", "task_1", "-m", "-"}, "@-"},
		{[]string{"respond", "q_1", "--comment", "-"}, "@-"},
		{[]string{"assign", "q_1", "bob", "--note", "-"}, "@-"},
		{[]string{"gate", "add", "deny", "Bash", "--reason", "-"}, "@-"},
		{[]string{"ask", "Go?", "--items", file("null")}, "says nothing"},
		{[]string{"ask", "Go?", "--items", file("{}")}, "says nothing"},
		{[]string{"ask", "Go?", "--items", file(`{"question": null, "items": null}`)}, "says nothing"},
		{[]string{"ask", "Go?", "--items", file(`{"items": []}`)}, "list of no items"},
		{[]string{"ask", "Go?", "--items", file(`{"questions": []}`)}, "list of no"},
		{[]string{"ask", "Go?", "--items", file(`[{"prompt": "Which?", "options": []}]`)}, "list of no options"},
		{[]string{"ask", "Go?", "--items", file(`{"items": [{"prompt": "Which?", "options": []}]}`)}, "list of no options"},
		{[]string{"ask", "--items", file(`{"question": "Which?", "options": []}`)}, "list of no options"},
		{[]string{"ask", "--items", file(`{"questions": [{"question": "Which?", "options": []}]}`)}, "list of no options"},
		{[]string{"ask", "Go?", "--dedupe-key", "k"}, "--session"},
		{[]string{"ask", "Go?", "--project", "shop", "--dedupe-key", "k"}, "--session"},
		{[]string{"create", "Paint", "--max-attempts", "0"}, "--max-attempts"},
		{[]string{"create", "Paint", "--max-attempts=-1"}, "--max-attempts"},
		{[]string{"gate", "add", "allow", "Bash", "--uses", "0"}, "--uses"},
		{[]string{"list", "--limit", "0"}, "--limit"},
		{[]string{"events", "--limit", "0"}, "--limit"},
		{[]string{"audit", "list", "--limit", "0"}, "--limit"},
		{[]string{"deliveries", "--limit", "0"}, "--limit"},
		{[]string{"analytics", "--limit", "0"}, "--limit"},
		{[]string{"workflow", "runs", "--limit", "0"}, "--limit"},
		{[]string{"respond", "--all", "--edit"}, "--all"},
		{[]string{"respond", "--all", "--answer", "a=1"}, "--all"},
		{[]string{"respond", "q_1", "yes", "--edit"}, "--edit"},
	} {
		code, out, talk := clitest.Run(t, "nobody reads this", append([]string{"--url", "http://127.0.0.1:1"}, c.args...)...)
		if code != session.ExitUsage || !strings.Contains(talk, c.says) {
			t.Errorf("%q: exit code %d, %s%s", c.args, code, out, talk)
		}
	}
}

package codex

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/agent"
)

// Commands run without a question only while the sandbox is closed. The arguments of the run close it against Codex's
// settings, and the user's arguments may open it.
func TestSandbox(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		extra []string
		asks  bool
	}{
		{nil, false},
		{[]string{"--model", "gpt-5"}, false},
		{[]string{"-c", `sandbox_mode="read-only"`}, false},
		{[]string{"--sandbox", "danger-full-access"}, true},
		{[]string{"-c", "sandbox_workspace_write.network_access=true"}, true},
		{[]string{"--add-dir", "/srv"}, true},
		{[]string{"-C/"}, true},
		{[]string{"--cd=/"}, true},
		{[]string{"-popen"}, true},
		{[]string{"--approve-for-me"}, true},
	} {
		args, _, err := command(&agent.Turn{Options: agent.Options{Fermata: "/bin/fermata", ExtraArgs: tt.extra}})
		if err != nil {
			t.Fatal(err)
		}
		line := strings.Join(args, " ")
		for _, setting := range []string{"network_access=false", "writable_roots=[]", `sandbox_mode="workspace-write"`} {
			if at := strings.Index(line, setting); at < 0 || at > strings.LastIndex(line, strings.Join(tt.extra, " ")) {
				t.Errorf("%v: there is no %s before the user's in %s", tt.extra, setting, line)
			}
		}
		if asks := !strings.Contains(line, "Bash"); asks != tt.asks {
			t.Errorf("%v: people are asked: %v", tt.extra, asks)
		}
	}
}

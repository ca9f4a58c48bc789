//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/test/script"
)

// The versions in doctor are the versions that the tests install.
func TestTestedAgentsAreThePinnedOnes(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "scripts", "agents"))
	if err != nil {
		t.Fatal(err)
	}
	pinned := map[string][2]string{}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] != "#" {
			pinned[fields[0]] = [2]string{fields[1], fields[2]}
		}
	}
	for _, a := range testedAgents {
		if pinned[a.name] != [2]string{a.pack, a.version} {
			t.Errorf("doctor names %s %s %s, scripts/agents %q", a.name, a.pack, a.version, pinned[a.name])
		}
		delete(pinned, a.name)
	}
	// This is a bridge to Claude Code. People name it for --runner acp
	// themselves.
	delete(pinned, "claude-agent-acp")
	if len(pinned) > 0 {
		t.Errorf("doctor does not look for %v", pinned)
	}
}

// This test is not parallel, because it changes PATH.
func TestDoctorFindsAgents(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if got := checkAgentVersions(t.Context()); len(got) != 1 || got[0].Status != "ok" || !strings.Contains(got[0].Detail, "none of claude, codex, gemini, opencode") {
		t.Errorf("with none installed: %+v", got)
	}
	for name, says := range map[string]string{
		"claude": "echo '2.1.329 (Claude Code)'", "codex": "echo 'codex-cli 0.200.1'", "gemini": "exit 1", "opencode": "echo dev",
	} {
		script.Write(t, filepath.Join(dir, name), says)
	}
	got := checkAgentVersions(t.Context())
	want := []struct{ check, status, detail string }{
		{"claude", "ok", "2.1.329, the version that Fermata was tested with"},
		{"codex", "warn", "0.200.1; Fermata was tested with 0.169.0"},
		{"gemini", "warn", "does not tell its version"},
		{"opencode", "warn", "tells no version"},
	}
	if len(got) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i, w := range want {
		if got[i].Check != w.check || got[i].Status != w.status || !strings.Contains(got[i].Detail, w.detail) {
			t.Errorf("got %+v, want %+v", got[i], w)
		}
	}
}

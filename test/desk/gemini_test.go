//go:build agents

package desk_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/agent"
)

func TestGeminiIsGated(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "read_file", map[string]string{"file_path": "open.txt"}, map[string]string{"file_path": "secret.txt"})
	for name, text := range map[string]string{"open.txt": "an open word", "secret.txt": "a secret word"} {
		if err := os.WriteFile(filepath.Join(d.room.Work, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d.install("gemini", d.room.Gemini(t))
	d.rule(fermata.NewGateRule{Tool: "read_file", Args: map[string]string{"file_path": "*secret*"}, Decision: fermata.GateDeny, Reason: "it is denied"})
	out := d.run(agent.Program(t, "gemini"), "-p", "go", "--output-format", "stream-json")
	if s := d.results(); !strings.Contains(s, "an open word") || strings.Contains(s, "a secret word") || !strings.Contains(s, "it is denied") {
		t.Errorf("the model saw:\n%s\n%s", s, out)
	}
}

func TestGeminiRunsNothingWithoutTheServer(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "read_file", map[string]string{"file_path": "open.txt"})
	if err := os.WriteFile(filepath.Join(d.room.Work, "open.txt"), []byte("an open word"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.install("gemini", d.room.Gemini(t))
	d.server.Stop()
	d.run(agent.Program(t, "gemini"), "-p", "go", "--output-format", "stream-json")
	if strings.Contains(d.results(), "an open word") {
		t.Errorf("a tool ran without the server:\n%s", d.results())
	}
}

//go:build agents

package agents

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fermata-hq/fermata/internal/scriptedmodel"
	"github.com/fermata-hq/fermata/test/agent"
)

var geminiKind = kind{
	name: "gemini", env: (*agent.Room).Gemini, ask: "~ask_person",
	write: func(name, text string) scriptedmodel.Part {
		return scriptedmodel.Call("write_file", map[string]any{"file_path": name, "content": text})
	},
}

func TestGeminiResumes(t *testing.T) {
	t.Parallel()
	testResume(t, geminiKind)
}

func TestGeminiSessionIsGone(t *testing.T) {
	t.Parallel()
	testGone(t, geminiKind, func(w *world) { remove(t, w.Folder, ".agents", "gemini", ".gemini", "tmp") })
}

func TestGeminiIsInterrupted(t *testing.T) {
	t.Parallel()
	testInterrupt(t, geminiKind)
}

var geminiShell = shell{"run_shell_command", "command", "run_shell_command"}

func TestGeminiIsGated(t *testing.T) {
	t.Parallel()
	testGate(t, geminiKind, geminiShell)
}

func TestGeminiIsIsolated(t *testing.T) {
	t.Parallel()
	testGate(t, geminiKind.isolated(), geminiShell)
}

func TestGeminiLosesItsWorker(t *testing.T) {
	t.Parallel()
	testLostWorkers(t, geminiKind)
}

func TestGeminiLeavesNothing(t *testing.T) {
	t.Parallel()
	testLeft(t, geminiKind, geminiShell)
}

func TestGeminiRunsNothingWithoutTheServer(t *testing.T) {
	t.Parallel()
	testClosed(t, geminiKind, geminiShell)
}

// If a repository switches the hooks of Gemini CLI off, the agent can run no command.
func TestGeminiIsStoppedWithoutItsHooks(t *testing.T) {
	t.Parallel()
	w := testUngated(t, geminiKind, geminiShell, func(w *world) {
		dir := filepath.Join(w.Room.Work, ".gemini")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "settings.json"), []byte(`{"hooksConfig": {"enabled": false}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		w.RunGit("add", "--all")
		w.RunGit("commit", "--quiet", "--message=No hooks")
	})
	for _, r := range w.Room.Model.Requests() {
		if slices.ContainsFunc(r.Conversation.Entries, func(it scriptedmodel.Entry) bool { return it.Role == scriptedmodel.ToolResult }) {
			t.Error("a command ran without the gate")
		}
	}
}

func TestGeminiDeniesEverything(t *testing.T) {
	t.Parallel()
	testDenies(t, geminiKind)
}

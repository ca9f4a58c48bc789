package agents

import (
	"slices"
	"testing"

	"github.com/fermata-hq/fermata/internal/scriptedmodel"
	"github.com/fermata-hq/fermata/test/agent"
)

// codexKind runs without Codex's own sandbox, because some test machines forbid that sandbox.
var codexKind = kind{
	name: "codex", env: (*agent.Room).Codex, args: []string{"-c", `sandbox_mode="danger-full-access"`},
	allow: "Bash",
	write: func(name, text string) scriptedmodel.Part {
		return scriptedmodel.Call("exec_command", map[string]any{"cmd": "printf " + text + " >" + name})
	},
}

// codexShell describes how Codex runs a command, and the name of this tool in gates.
var codexShell = shell{"exec_command", "cmd", "Bash"}

func TestCodexIsGated(t *testing.T) {
	t.Parallel()
	testGate(t, codexKind, codexShell)
}

func TestCodexIsIsolated(t *testing.T) {
	t.Parallel()
	testGate(t, codexKind.isolated(), codexShell)
}

func TestCodexLeavesNothing(t *testing.T) {
	t.Parallel()
	testLeft(t, codexKind, codexShell)
}

func TestCodexRunsNothingWithoutTheServer(t *testing.T) {
	t.Parallel()
	testClosed(t, codexKind, codexShell)
}

func TestCodexResumes(t *testing.T) {
	t.Parallel()
	testResume(t, codexKind)
}

func TestCodexSessionIsGone(t *testing.T) {
	t.Parallel()
	testGone(t, codexKind, func(w *world) { remove(t, w.Room.Home, ".codex", "sessions") })
}

func TestCodexIsInterrupted(t *testing.T) {
	t.Parallel()
	testInterrupt(t, codexKind)
}

func TestCodexIsCancelled(t *testing.T) {
	t.Parallel()
	testCancel(t, codexKind)
}

func TestCodexIsStoppedWithoutItsHooks(t *testing.T) {
	t.Parallel()
	k := codexKind
	k.args = append(slices.Clone(k.args), "-c", "hooks={}")
	testUngated(t, k, codexShell, func(*world) {})
}

func TestCodexDeniesEverything(t *testing.T) {
	t.Parallel()
	testDenies(t, codexKind)
}

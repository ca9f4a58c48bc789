package agents

import (
	"testing"

	"github.com/fermata-hq/fermata/test/agent"
	"github.com/fermata-hq/fermata/test/scriptedmodel"
)

// codexKind runs without Codex's own sandbox, which not every machine of tests allows.
var codexKind = kind{
	name: "codex", env: (*agent.Room).Codex, args: []string{"-c", `sandbox_mode="danger-full-access"`},
	write: func(name, text string) scriptedmodel.Part {
		return scriptedmodel.Call("exec_command", map[string]any{"cmd": "printf " + text + " >" + name})
	},
}

func TestCodexResumes(t *testing.T) {
	t.Parallel()
	testResume(t, codexKind)
}

func TestCodexSessionIsGone(t *testing.T) {
	t.Parallel()
	testGone(t, codexKind, func(w *world) { remove(t, w.room.Home, ".codex", "sessions") })
}

func TestCodexIsInterrupted(t *testing.T) {
	t.Parallel()
	testInterrupt(t, codexKind)
}

func TestCodexIsCancelled(t *testing.T) {
	t.Parallel()
	testCancel(t, codexKind)
}

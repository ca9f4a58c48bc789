//go:build agents

package agents

import (
	"testing"

	"github.com/fermata-hq/fermata/internal/scriptedmodel"
	"github.com/fermata-hq/fermata/test/agent"
)

var openCodeKind = kind{
	name: "opencode", env: (*agent.Room).OpenCode,
	write: func(name, text string) scriptedmodel.Part {
		return scriptedmodel.Call("write", map[string]any{"filePath": name, "content": text})
	},
}

func TestOpenCodeResumes(t *testing.T) {
	t.Parallel()
	testResume(t, openCodeKind)
}

func TestOpenCodeSessionIsGone(t *testing.T) {
	t.Parallel()
	testGone(t, openCodeKind, func(w *world) { remove(t, w.Room.Home, ".local", "share", "opencode") })
}

func TestOpenCodeIsInterrupted(t *testing.T) {
	t.Parallel()
	testInterrupt(t, openCodeKind)
}

var openCodeShell = shell{"bash", "command", "bash"}

func TestOpenCodeIsGated(t *testing.T) {
	t.Parallel()
	testGate(t, openCodeKind, openCodeShell)
}

func TestOpenCodeLosesItsWorker(t *testing.T) {
	t.Parallel()
	testDies(t, openCodeKind)
}

func TestOpenCodeLeavesNothing(t *testing.T) {
	t.Parallel()
	testLeft(t, openCodeKind, openCodeShell)
}

func TestOpenCodeRunsNothingWithoutTheServer(t *testing.T) {
	t.Parallel()
	testClosed(t, openCodeKind, openCodeShell)
}

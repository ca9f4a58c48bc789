//go:build agents

package agents

import (
	"testing"

	"github.com/fermata-hq/fermata/test/agent"
	"github.com/fermata-hq/fermata/test/scriptedmodel"
)

var openCodeKind = kind{
	name: "opencode", env: (*agent.Room).OpenCode,
	write: func(name, text string) scriptedmodel.Part {
		return scriptedmodel.Call("bash", map[string]any{"command": "printf " + text + " >" + name, "description": "Paint"})
	},
}

func TestOpenCodeResumes(t *testing.T) {
	t.Parallel()
	testResume(t, openCodeKind)
}

func TestOpenCodeSessionIsGone(t *testing.T) {
	t.Parallel()
	testGone(t, openCodeKind, func(w *world) { remove(t, w.room.Home, ".local", "share", "opencode") })
}

func TestOpenCodeIsInterrupted(t *testing.T) {
	t.Parallel()
	testInterrupt(t, openCodeKind)
}

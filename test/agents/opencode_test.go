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

//go:build agents

package agents

import (
	"testing"

	"github.com/fermata-hq/fermata/test/agent"
	"github.com/fermata-hq/fermata/test/scriptedmodel"
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

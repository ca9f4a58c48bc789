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

func TestGeminiSessionIsGone(t *testing.T) {
	t.Parallel()
	testGone(t, geminiKind, func(w *world) { remove(t, w.work, ".agents", "gemini", ".gemini", "tmp") })
}

func TestGeminiIsInterrupted(t *testing.T) {
	t.Parallel()
	testInterrupt(t, geminiKind)
}

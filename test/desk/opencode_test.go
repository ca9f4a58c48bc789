//go:build agents

package desk_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fermata-hq/fermata/test/agent"
)

var openCodeFlags = []string{"run", "--format", "json", "go"}

func TestOpenCodeIsGated(t *testing.T) {
	t.Parallel()
	input := func(line string) map[string]string { return map[string]string{"command": line, "description": "touch"} }
	d := newDesk(t, "bash", input("touch allowed"), input("touch denied"), input("true && touch denied2; touch denied2"))
	d.install("opencode", d.room.OpenCode(t))
	d.rulesOf("bash")
	d.run(agent.Program(t, "opencode"), openCodeFlags...)
	d.checkGated()
	d.run(agent.Fermata(t), "install", "opencode", "--remove")
	if found, err := filepath.Glob(filepath.Join(d.room.Home, ".config", "opencode", "plugins", "*.js")); err != nil || len(found) > 0 {
		t.Errorf("the plugin is left: %v %v", found, err)
	}
}

func TestOpenCodeRunsNothingWithoutTheServer(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "bash", map[string]string{"command": "touch allowed", "description": "touch"})
	d.install("opencode", d.room.OpenCode(t))
	d.rulesOf("bash")
	d.server.Stop()
	d.run(agent.Program(t, "opencode"), openCodeFlags...)
	if d.exists("allowed") {
		t.Error("a tool ran without the server")
	}
	if _, err := os.Stat(filepath.Join(d.room.Home, ".config", "opencode", "plugins", "fermata.js")); err != nil {
		t.Error(err)
	}
}

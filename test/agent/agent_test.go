package agent_test

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/scriptedmodel"
	"github.com/fermata-hq/fermata/test/agent"
)

func TestMain(m *testing.M) { agent.Main(m) }

// If the network is sealed, only loopback works.
func TestSealed(t *testing.T) {
	t.Parallel()
	if os.Getenv("FERMATA_TEST_SEALED") == "" {
		t.Log("this machine forbids network namespaces; the environment alone seals the agents off")
		return
	}
	devices, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range devices {
		if d.Flags&net.FlagUp != 0 && d.Flags&net.FlagLoopback == 0 {
			t.Errorf("the device %s is up", d.Name)
		}
	}
	if _, err := net.Dial("tcp", "192.0.2.1:443"); err == nil {
		t.Error("something outside was reached")
	}
}

func TestClaude(t *testing.T) {
	t.Parallel()
	room := agent.NewRoom(t, scriptedmodel.Script{Rules: []scriptedmodel.Rule{
		{Name: "hello", When: scriptedmodel.When{Last: "good day"}, Reply: scriptedmodel.Say("Hello, person.")},
	}})
	out := run(t, room, room.Claude(t), agent.Program(t, "claude"), "-p", "good day", "--output-format", "json")
	var result struct {
		Result         string `json:"result"`
		TerminalReason string `json:"terminal_reason"`
	}
	if err := json.Unmarshal(out, &result); err != nil || result.Result != "Hello, person." || result.TerminalReason != "completed" {
		t.Errorf("got %s: %v", out, err)
	}
	for _, r := range room.Model.AllRequests() {
		if r.Kind == "other" {
			t.Errorf("it asked for %s %s", r.Method, r.Path)
		}
	}
}

func TestCodex(t *testing.T) {
	t.Parallel()
	room := agent.NewRoom(t, scriptedmodel.Script{Rules: []scriptedmodel.Rule{
		{Name: "hello", When: scriptedmodel.When{Last: "good day"}, Reply: scriptedmodel.Say("Hello, person.")},
	}})
	out := run(t, room, room.Codex(t), agent.Program(t, "codex"), "exec", "--json", "--skip-git-repo-check", "good day")
	if !strings.Contains(string(out), "Hello, person.") || !strings.Contains(string(out), "turn.completed") {
		t.Errorf("got %s", out)
	}
}

// run runs a program in the room.
func run(t *testing.T, room *agent.Room, env agent.Env, program string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Env = room.Work, env
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", program, err, out, errs.String())
	}
	return out
}

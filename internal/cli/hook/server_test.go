package hook_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/cli/clitest"
	"github.com/fermata-hq/fermata/internal/cli/hook"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/process"
)

// gateServer is a server that denies everything, and records the tokens and the calls.
type gateServer struct {
	*httptest.Server
	mu     sync.Mutex
	tokens []string
	calls  []string
}

func newGateServer(t *testing.T) *gateServer {
	t.Helper()
	g := &gateServer{}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call map[string]any
		_ = json.NewDecoder(r.Body).Decode(&call)
		data, _ := json.Marshal(call)
		g.mu.Lock()
		defer g.mu.Unlock()
		g.tokens, g.calls = append(g.tokens, r.Header.Get("Authorization")), append(g.calls, string(data))
		_, _ = w.Write([]byte(`{"decision":"deny","reason":"a rule denies everything","decided_by":"policy","rule":{"id":"rule_1","decision":"deny","tool":"*"}}`))
	}))
	t.Cleanup(g.Close)
	return g
}

func (g *gateServer) requests() (tokens, calls []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tokens, g.calls
}

// A folder in the environment lets no call pass. Only a process that the worker itself started is in its run.
func TestDeskHookStandsAsideInProvenRunsOnly(t *testing.T) {
	server, held := newGateServer(t), t.TempDir()
	forged := t.TempDir()
	for _, name := range []string{"worker", agent.GatedFile, agent.TokenFile} {
		if err := os.WriteFile(filepath.Join(forged, name), []byte("1"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	release, err := process.HoldRun(held)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	// This process holds the folder, and is not a child of itself.
	for _, folder := range []string{"x", "/", forged, held} {
		t.Setenv(agent.FolderEnv, folder)
		for _, program := range []string{"claude", "codex", "gemini", "opencode"} {
			event := map[string]string{"gemini": "BeforeTool", "opencode": "tool.execute.before"}[program]
			call := hook.ClaudeCallOf("Bash", `{"command":"ls"}`)
			if event != "" {
				call = strings.Replace(call, "PreToolUse", event, 1)
			}
			code, out, talk := clitest.Run(t, call, "--url", server.URL, "--token", fermata.NewSecret(), "hook", program)
			if !strings.Contains(out, "deny") {
				t.Errorf("%s in %s: got %d, %q and %q", program, folder, code, out, talk)
			}
		}
	}
}

// Only the command line of the installed hook decides. The environment changes neither the server, nor the token, nor
// the task, nor a proxy.
func TestInstalledHookIgnoresTheEnvironment(t *testing.T) {
	server, other, right := newGateServer(t), newGateServer(t), fermata.NewSecret()
	tokens := filepath.Join(t.TempDir(), "login.json")
	stored, err := json.Marshal(map[string]any{"url": other.URL, "tokens": map[string]string{server.URL: right, other.URL: fermata.NewSecret()}})
	if err == nil {
		err = os.WriteFile(tokens, stored, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"FERMATA_URL": other.URL, "FERMATA_TOKEN": fermata.NewSecret(), "FERMATA_TASK": "task_9", "FERMATA_RUN": "run_9",
		"HTTP_PROXY": other.URL, "http_proxy": other.URL, "XDG_CONFIG_HOME": t.TempDir(), "HOME": t.TempDir(),
	} {
		t.Setenv(name, value)
	}
	code, out, talk := clitest.Run(t, hook.ClaudeCallOf("Bash", `{"command":"ls"}`), "hook", "claude", "--server", server.URL, "--token-file", tokens)
	if code != session.ExitOK || !strings.Contains(out, "a rule denies everything") {
		t.Errorf("got %d, %q and %q", code, out, talk)
	}
	shown, calls := server.requests()
	for i := range shown {
		if shown[i] != "Bearer "+right || strings.Contains(calls[i], "task_9") || !strings.Contains(calls[i], "claude:s") {
			t.Errorf("asked with %s: %s", shown[i], calls[i])
		}
	}
	if shown, _ := other.requests(); len(shown) != 0 || len(calls) == 0 {
		t.Errorf("the other server was asked with %v", shown)
	}
}

// A run's hook reads everything from its own command line, and reports to the runner which calls it let through.
func TestWorkerHookIgnoresTheEnvironment(t *testing.T) {
	server, other, folder, right := newGateServer(t), newGateServer(t), t.TempDir(), fermata.NewSecret()
	token := filepath.Join(folder, agent.TokenFile)
	err := os.WriteFile(token, []byte(right+"\n"), 0o600)
	if err == nil {
		err = os.Mkdir(filepath.Join(folder, agent.CallsFolder), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"FERMATA_URL": other.URL, "FERMATA_TOKEN": fermata.NewSecret(), "FERMATA_TASK": "task_9", "FERMATA_RUN": "run_9", agent.FolderEnv: t.TempDir(),
	} {
		t.Setenv(name, value)
	}
	args := []string{"hook", "claude", "--worker", "--run-folder", folder, "--task", "task_1", "--run", "run_1", "--server", server.URL, "--token-file", token}
	if code, out, talk := clitest.Run(t, hook.ClaudeCallOf("Bash", `{"command":"ls"}`), args...); code != session.ExitOK || !strings.Contains(out, "deny") {
		t.Errorf("got %d, %q and %q", code, out, talk)
	}
	own := strings.Replace(hook.ClaudeCallOf("mcp__fermata__ask_user", `{}`), "toolu_1", "toolu_2", 1)
	if code, out, talk := clitest.Run(t, own, args...); code != session.ExitOK || out != "" {
		t.Errorf("got %d, %q and %q", code, out, talk)
	}
	shown, calls := server.requests()
	if len(shown) != 1 || shown[0] != "Bearer "+right || !strings.Contains(calls[0], "task_1") || !strings.Contains(calls[0], "run_1") {
		t.Errorf("asked with %v: %v", shown, calls)
	}
	if shown, _ := other.requests(); len(shown) != 0 {
		t.Errorf("the other server was asked with %v", shown)
	}
	for _, want := range []string{agent.CallFilePrefix(false, "toolu_1"), agent.CallFilePrefix(true, "toolu_2")} {
		if notes, err := filepath.Glob(filepath.Join(folder, agent.CallsFolder, want+"*")); err != nil || len(notes) != 1 {
			t.Errorf("the notes %s* are %v, %v", want, notes, err)
		}
	}
}

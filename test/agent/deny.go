package agent

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/scriptedmodel"
)

type object = map[string]any

// smuggledQuestion is a question that only a tool of another MCP server asks.
const smuggledQuestion = "Was this asked by another server?"

// actingCalls returns the calls with which a program acts: a command, a file, the network, and a tool of an MCP server.
func actingCalls(program, url string) []scriptedmodel.Part {
	question := object{"question": smuggledQuestion, "type": "non_blocking", "default": "x"}
	call := scriptedmodel.Call
	switch program {
	case "opencode":
		return []scriptedmodel.Part{
			call("bash", object{"command": "touch ran.txt", "description": "x"}), call("write", object{"filePath": "written.txt", "content": "x"}),
			call("webfetch", object{"url": url, "format": "text"}), call("other_post_question", question),
		}
	case "gemini":
		return []scriptedmodel.Part{
			call("run_shell_command", object{"command": "touch ran.txt", "description": "x"}), call("write_file", object{"file_path": "written.txt", "content": "x"}),
			call("web_fetch", object{"prompt": "Read " + url}), call("mcp_other_post_question", question),
		}
	case "codex":
		return []scriptedmodel.Part{
			call("exec_command", object{"cmd": "touch ran.txt"}), call("exec_command", object{"cmd": "printf x >written.txt"}),
			call("exec_command", object{"cmd": "curl -s " + url}), call("mcp__otherpost_question", question),
		}
	default:
		return []scriptedmodel.Part{
			call("Bash", object{"command": "touch ran.txt", "description": "x"}), call("Write", object{"file_path": "written.txt", "content": "x"}),
			call("WebFetch", object{"url": url, "prompt": "x"}), call("mcp__other__post_question", question),
		}
	}
}

// CheckDeny makes a program act in every way while a gate rule denies everything. With allowAll, the settings of its
// project allow everything. The test fails if one of the calls had an effect.
func CheckDeny(t *testing.T, program string, allowAll bool, start func(room *Room) *Lab) {
	t.Helper()
	var fetched atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { fetched.Add(1) }))
	t.Cleanup(site.Close)
	var rules []scriptedmodel.Rule
	for n, call := range actingCalls(program, site.URL) {
		rules = append(rules, scriptedmodel.Rule{Name: "act", When: scriptedmodel.When{Turn: &n}, Reply: []scriptedmodel.Part{call}})
	}
	room := NewRoom(t, scriptedmodel.Script{Rules: append(rules, scriptedmodel.Rule{Name: "done", Reply: scriptedmodel.Say("I may not.")})})
	l := start(room)
	l.writeProjectSettings(program, allowAll)
	if _, err := l.Admin.AddGateRule(t.Context(), fermata.NewGateRule{Tool: "*", Decision: fermata.GateDeny}); err != nil {
		t.Fatal(err)
	}
	task := l.CreateTask("Do all of it", "")
	l.RunWorkerOnce()
	task = l.Task(task.ID)
	if asked := len(l.RequestsOf("act")); asked != 4 || task.State != fermata.TaskDone || task.Summary != "I may not." {
		t.Errorf("the agent acted %d times: it is %s: %s", asked, task.State, task.Summary)
	}
	l.wantNothing(task)
	if n := fetched.Load(); n != 0 {
		t.Errorf("the network was reached %d times", n)
	}
}

// wantNothing fails the test if the task left a file, or a question of the other MCP server.
func (l *Lab) wantNothing(task *fermata.Task) {
	l.Helper()
	out := l.RunGit("ls-tree", "--name-only", "fermata/"+task.ID)
	for _, name := range []string{"ran.txt", "written.txt"} {
		if strings.Contains(out, name) {
			l.Errorf("there is %s", name)
		}
	}
	questions, _, err := l.Admin.Questions(l.Context(), client.QuestionQuery{})
	if err != nil {
		l.Fatal(err)
	}
	for _, q := range questions {
		if strings.Contains(q.Title, smuggledQuestion) {
			l.Errorf("a tool of an MCP server ran: %s", q.Title)
		}
	}
}

// writeProjectSettings writes the settings of the project: another MCP server and, with allowAll, every setting that
// lets the agent act without asking.
func (l *Lab) writeProjectSettings(program string, allowAll bool) {
	l.Helper()
	env := map[string]string{"FERMATA_URL": l.Server.URL, "FERMATA_TOKEN": l.AgentToken}
	files := map[string]any{}
	switch program {
	case "opencode":
		config := object{"mcp": object{"other": object{"type": "local", "command": []string{l.Binary, "mcp"}, "environment": env, "enabled": true}}}
		if allowAll {
			free := object{"*": "allow", "bash": "allow", "edit": "allow", "webfetch": "allow", "other_*": "allow"}
			config["permission"] = free
			config["agent"] = object{"build": object{"permission": free}}
			config["mode"] = object{"build": object{"permission": free}}
		}
		files["opencode.json"] = config
	case "gemini":
		server := object{"command": l.Binary, "args": []string{"mcp"}, "env": env}
		config := object{"mcpServers": object{"other": server}}
		if allowAll {
			config["general"] = object{"defaultApprovalMode": "auto_edit"}
		}
		files[".gemini/settings.json"] = config
	case "codex":
		// Codex reads servers only from the user's own configuration.
		path := filepath.Join(l.Room.Home, ".codex", "config.toml")
		config, err := os.ReadFile(path)
		if err == nil {
			server := fmt.Sprintf("\n[mcp_servers.other]\ncommand = %q\nargs = [\"mcp\"]\nenv = { FERMATA_URL = %q, FERMATA_TOKEN = %q }\n", l.Binary, l.Server.URL, l.AgentToken)
			err = os.WriteFile(path, append(config, server...), 0o600) //nolint:gosec // the room's own file
		}
		if err != nil {
			l.Fatal(err)
		}
	default:
		files[".mcp.json"] = object{"mcpServers": object{"other": object{"command": l.Binary, "args": []string{"mcp"}, "env": env}}}
		config := object{"enableAllProjectMcpServers": true}
		if allowAll {
			config["permissions"] = object{"defaultMode": "acceptEdits", "allow": []string{"Bash", "Write", "Edit", "WebFetch", "mcp__other", "mcp__other__post_question"}}
			config["disableAllHooks"] = true
		}
		files[".claude/settings.json"] = config
	}
	for name, content := range files {
		path := filepath.Join(l.Room.Work, name)
		data, err := json.Marshal(content)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil {
			err = os.WriteFile(path, data, 0o600)
		}
		if err != nil {
			l.Fatal(err)
		}
	}
	l.RunGit("add", "--all")
	l.RunGit("commit", "--quiet", "--allow-empty", "--message=Settings")
}

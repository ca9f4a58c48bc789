package hook_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/clitest"
	"github.com/fermata-hq/fermata/internal/cli/hook"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// After any error the tool does not run: the exit code is 2, the reason is on standard error, and there is no other
// output.
func TestClaudeHookFailsClosed(t *testing.T) {
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotImplemented)
	}))
	t.Cleanup(broken.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	strange := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"decision":"perhaps"}`))
	}))
	t.Cleanup(strange.Close)
	bash := hook.ClaudeCallOf("Bash", `{"command":"ls"}`)
	for _, tt := range []struct{ name, task, url, stdin string }{
		{"server gone", "task_1", gone.URL, bash},
		{"server broken", "task_1", broken.URL, bash},
		{"unknown decision", "task_1", strange.URL, bash},
		{"question, server gone", "task_1", gone.URL, hook.ClaudeCallOf("AskUserQuestion", `{"questions":[{"question":"Which?"}]}`)},
		{"plan, server gone", "task_1", gone.URL, hook.ClaudeCallOf("ExitPlanMode", `{"plan":"x"}`)},
		{"reading, server gone", "task_1", gone.URL, hook.ClaudeCallOf("Read", `{"file_path":"x"}`)},
		{"no questions", "task_1", gone.URL, hook.ClaudeCallOf("AskUserQuestion", `{"questions":7}`)},
		{"no JSON", "task_1", gone.URL, "{"},
		{"no tool", "task_1", gone.URL, `{"hook_event_name":"PreToolUse"}`},
		{"no event", "task_1", gone.URL, `{"tool_name":"Bash"}`},
		{"nothing", "task_1", gone.URL, ""},
		{"no task", "", gone.URL, bash},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("FERMATA_TASK", tt.task)
			code, out, talk := clitest.Run(t, tt.stdin, "--url", tt.url, "hook", "claude", "--worker")
			if code != hook.ExitBlocked || out != "" || !strings.Contains(talk, "may not run") {
				t.Errorf("got %d, %q and %q", code, out, talk)
			}
		})
	}
}

// An unknown event lets nothing pass, even for a program without an event after a call.
func TestHooksFailClosedWithoutAnEvent(t *testing.T) {
	for _, program := range []string{"claude", "codex", "gemini", "opencode"} {
		t.Setenv("FERMATA_TASK", "task_1")
		for _, event := range []string{"", "BeforeAnything"} {
			call := strings.Replace(hook.ClaudeCallOf("Bash", `{"command":"ls"}`), "PreToolUse", event, 1)
			if code, out, talk := clitest.Run(t, call, "--url", "http://127.0.0.1:1", "hook", program, "--worker"); code != hook.ExitBlocked || out != "" {
				t.Errorf("%s, the event %q: got %d, %q and %q", program, event, code, out, talk)
			}
		}
	}
}

// An event that two readers could understand differently lets nothing pass in any program.
func TestHooksRefuseEventsWithTwoReadings(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"decision":"allow","rule":{"id":"r","decision":"allow"}}`))
	}))
	t.Cleanup(server.Close)
	t.Setenv("FERMATA_TASK", "task_1")
	for program, before := range map[string]string{"claude": "PreToolUse", "codex": "PreToolUse", "gemini": "BeforeTool", "opencode": "tool.execute.before"} {
		event := strings.Replace(hook.ClaudeCallOf("Bash", `{"command":"rm -rf /x"}`), "PreToolUse", before, 1)
		for added, want := range map[string]int{
			``:                                         session.ExitOK,
			`,"later_field":{"tool_name":"Read"}`:      session.ExitOK,
			`,"tool_input":{"command":"git status"}`:   hook.ExitBlocked,
			`,"Tool_Input":{"command":"git status"}`:   hook.ExitBlocked,
			`,"TOOL_INPUT":null`:                       hook.ExitBlocked,
			`,"tool_input":null`:                       hook.ExitBlocked,
			`,"tool_name":"Read"`:                      hook.ExitBlocked,
			`,"Tool_name":"Read"`:                      hook.ExitBlocked,
			`,"\u0074ool_name":"Read"`:                 hook.ExitBlocked,
			`,"\u017fession_id":"t"`:                   hook.ExitBlocked,
			`,"CWD":"/"`:                               hook.ExitBlocked,
			`,"later_field":1,"later_field":2`:         hook.ExitBlocked,
			`,"later_field":{"a":1,"a":2}`:             hook.ExitBlocked,
			`,"mcp_context":{"Server_name":"fermata"}`: hook.ExitBlocked,
			`,"mcp_context":{"server_name":"x","server_name":"fermata"}`: hook.ExitBlocked,
			`,"MCP_context":{"server_name":"fermata"}`:                   hook.ExitBlocked,
		} {
			call := strings.TrimSuffix(event, "}") + added + "}"
			for _, flag := range []string{"--worker", "--strict"} {
				code, out, talk := clitest.Run(t, call, "--url", server.URL, "--token", fermata.NewSecret(), "hook", program, flag)
				if code != want || want == hook.ExitBlocked && (out != "" || !strings.Contains(talk, "may not run")) {
					t.Errorf("%s %s, with %s: got %d, %q and %q", program, flag, added, code, out, talk)
				}
			}
		}
	}
}

// Only Fermata's own tools pass without the gate. Tools of a server with a similar name do not.
func TestOwnToolsAreNotGated(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		program, event, tool string
		code                 int
	}{
		{"claude", "PreToolUse", "mcp__fermata__ask_user", session.ExitOK},
		{"claude", "PreToolUse", "mcp__fermata__db__drop", hook.ExitBlocked},
		{"codex", "PreToolUse", "mcp__fermata__request_approval", session.ExitOK},
		{"opencode", "tool.execute.before", "fermata_check_answer", session.ExitOK},
		{"opencode", "tool.execute.before", "fermata_db_drop", hook.ExitBlocked},
		{"gemini", "BeforeTool", "mcp_fermata_ask_person", session.ExitOK},
		{"gemini", "BeforeTool", "mcp_fermata_db_drop", hook.ExitBlocked},
	} {
		call := strings.Replace(hook.ClaudeCallOf(tt.tool, "{}"), "PreToolUse", tt.event, 1)
		if code, out, talk := clitest.Run(t, call, "--url", "http://127.0.0.1:1", "hook", tt.program); code != tt.code || out != "" {
			t.Errorf("%s: got %d, %q and %q", tt.tool, code, out, talk)
		}
	}
}

// If a question of the agent is pending, the hook stops the agent, and its runner finds the question.
func TestClaudeHookStops(t *testing.T) {
	pending := `{\"status\":\"pending\",\"question_id\":\"q_1\"}`
	for _, tt := range []struct {
		name, tool, input, response string
		stops                       bool
	}{
		{"text", "mcp__fermata__ask_user", `{}`, `"` + pending + `"`, true},
		{"blocks", "mcp__fermata__request_approval", `{}`, `[{"type":"text","text":"` + pending + `"}]`, true},
		{"object", "mcp__fermata__ask_user", `{}`, `{"status":"pending","question_id":"q_1"}`, true},
		{"answered", "mcp__fermata__ask_user", `{}`, `"{\"status\":\"answered\",\"question_id\":\"q_1\"}"`, false},
		{"non_blocking", "mcp__fermata__ask_user", `{"type":"non_blocking"}`, `"` + pending + `"`, false},
		{"posted", "mcp__fermata__post_question", `{}`, `"` + pending + `"`, false},
		{"other server", "mcp__other__ask_user", `{}`, `"` + pending + `"`, false},
		{"error", "mcp__fermata__ask_user", `{}`, `"no such thing"`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			t.Setenv("FERMATA_TASK", "task_1")
			t.Setenv("FERMATA_RUN_FOLDER", folder)
			call := `{"hook_event_name":"PostToolUse","tool_name":"` + tt.tool + `","tool_input":` + tt.input + `,"tool_response":` + tt.response + `}`
			code, out, talk := clitest.Run(t, call, "--url", "http://127.0.0.1:1", "hook", "claude", "--worker")
			want := ""
			if tt.stops {
				want = `{"continue":false,"stopReason":"waiting for a person: q_1"}` + "\n"
			}
			if code != session.ExitOK || out != want {
				t.Errorf("got %d, %q and %q", code, out, talk)
			}
			if id, _ := os.ReadFile(filepath.Join(folder, "stopped")); (string(id) == "q_1") != tt.stops {
				t.Errorf("the runner finds %q", id)
			}
		})
	}
}

// After the task was stopped, even a harmless call is denied.
func TestClaudeHookDeniesWhatIsStopped(t *testing.T) {
	const verdict = `{"decision":"deny","decided_by":"system","reason":"stop: the task is cancelled","task_id":"task_1"}`
	var sent bytes.Buffer
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = sent.ReadFrom(r.Body)
		_, _ = w.Write([]byte(verdict))
	}))
	t.Cleanup(server.Close)
	t.Setenv("FERMATA_TASK", "task_1")
	t.Setenv("FERMATA_RUN", "run_1")
	code, out, _ := clitest.Run(t, hook.ClaudeCallOf("Read", `{"file_path":"x"}`), "--url", server.URL, "hook", "claude", "--worker")
	if code != 0 || !strings.Contains(out, `"deny"`) || !strings.Contains(out, "the task is cancelled") {
		t.Errorf("got %d and %q", code, out)
	}
	if !strings.Contains(sent.String(), `"run_id":"run_1"`) {
		t.Errorf("the call named no run: %s", sent.String())
	}
}

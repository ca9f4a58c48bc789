package hook_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/clitest"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// An agent edits the files of its folder unasked, but no other files.
func TestEditsOutsideOfTheFolderAreAsked(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call fermata.GateCall
		_ = json.NewDecoder(r.Body).Decode(&call)
		if !call.DryRun {
			asked.Add(1)
		}
		_, _ = w.Write([]byte(`{"decision":"ask","question_id":"q_1","status":"pending"}`))
	}))
	t.Cleanup(server.Close)
	folder, outside := t.TempDir(), t.TempDir()
	for name, to := range map[string]string{"out": outside, "in": "sub", "nowhere": filepath.Join(outside, "new.txt")} {
		if err := os.Symlink(to, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		tool, path string
		asks       bool
	}{
		{"write_file", "a.txt", false},
		{"write_file", "new/deep/a.txt", false},
		{"write_file", filepath.Join(folder, "a.txt"), false},
		{"write_file", "in/a.txt", false},
		{"write_file", "sub/../a.txt", false},
		{"write_file", "../a.txt", true},
		{"write_file", filepath.Join(outside, "a.txt"), true},
		{"write_file", folder + "-2/a.txt", true},
		{"write_file", "out/a.txt", true},
		{"write_file", "out/new/a.txt", true},
		{"write_file", "nowhere", true},
		{"write_file", "~/.bashrc", true},
		{"write_file", "file://" + filepath.Join(outside, "a.txt"), true},
		{"write_file", "FILE:" + filepath.Join(outside, "a.txt"), true},
		{"write_file", "file://" + folder + "/sub/%2e%2e/%2e%2e/a.txt", true},
		{"write_file", "file://" + filepath.Join(folder, "a.txt"), false},
		{"read_file", filepath.Join(outside, "a.txt"), false},
	} {
		before := asked.Load()
		input, _ := json.Marshal(map[string]string{"file_path": tt.path, "content": "x"})
		call, _ := json.Marshal(map[string]any{
			"session_id": "s", "cwd": folder, "hook_event_name": "BeforeTool", "tool_name": tt.tool, "tool_input": json.RawMessage(input),
		})
		code, out, talk := clitest.Run(t, string(call), "--url", server.URL, "--token", fermata.NewSecret(), "hook", "gemini", "--worker", "--dir", folder, "--task", "task_1", "--unasked", "write_file,read_file")
		if asks := asked.Load() > before; code != session.ExitOK || asks != tt.asks || asks != strings.Contains(out, "stopReason") {
			t.Errorf("%s of %s: asked %v, ended with %d, %q and %q", tt.tool, tt.path, asks, code, out, talk)
		}
	}
}

// The event cannot change the folder in which an agent edits unasked. It is the folder that the worker names, or the
// folder in which the hook was started.
func TestTheEventDoesNotSayWhichFolderIsTheAgents(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"decision":"ask","question_id":"q_1","status":"pending"}`))
	}))
	t.Cleanup(server.Close)
	folder, outside := t.TempDir(), t.TempDir()
	t.Chdir(folder)
	for _, tt := range []struct {
		program, path, cwd, named string
		asks                      bool
	}{
		{"codex", filepath.Join(outside, "x"), outside, "", true},
		{"codex", "x", outside, "", true},
		{"codex", "../x", folder + "/sub", "", true},
		{"codex", "sub/x", folder, "", false},
		{"codex", filepath.Join(folder, "x"), folder, "", false},
		{"codex", filepath.Join(outside, "x"), outside, outside, false},
		{"codex", filepath.Join(folder, "x"), folder, outside, true},
		{"claude", filepath.Join(outside, "x"), outside, "", true},
		{"claude", filepath.Join(folder, "x"), folder, "", false},
	} {
		input, _ := json.Marshal(map[string]string{"file_path": tt.path, "content": "x"})
		call, _ := json.Marshal(map[string]any{
			"session_id": "s", "cwd": tt.cwd, "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": json.RawMessage(input), "permission_mode": "acceptEdits",
		})
		args := []string{"--url", server.URL, "--token", fermata.NewSecret(), "hook", tt.program, "--worker", "--task", "task_1"}
		if tt.program != "claude" {
			args = append(args, "--unasked", "Write")
		}
		if tt.named != "" {
			args = append(args, "--dir", tt.named)
		}
		code, out, talk := clitest.Run(t, string(call), args...)
		if asks := strings.Contains(out, "q_1"); code != session.ExitOK || asks != tt.asks {
			t.Errorf("%s: %s from %s, named %q: asked %v, ended with %d, %q and %q", tt.program, tt.path, tt.cwd, tt.named, asks, code, out, talk)
		}
	}
}

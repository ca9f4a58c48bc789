package cli

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
)

// An agent edits the files of its folder unasked, and no others.
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
		{"read_file", filepath.Join(outside, "a.txt"), false},
	} {
		before := asked.Load()
		input, _ := json.Marshal(map[string]string{"file_path": tt.path, "content": "x"})
		call, _ := json.Marshal(map[string]any{
			"session_id": "s", "cwd": folder, "hook_event_name": "BeforeTool", "tool_name": tt.tool, "tool_input": json.RawMessage(input),
		})
		code, out, talk := run(t, string(call), "--url", server.URL, "--token", fermata.NewSecret(), "hook", "gemini", "--worker", "--task", "task_1", "--unasked", "write_file,read_file")
		if asks := asked.Load() > before; code != exitOK || asks != tt.asks || asks != strings.Contains(out, "stopReason") {
			t.Errorf("%s of %s: asked %v, ended with %d, %q and %q", tt.tool, tt.path, asks, code, out, talk)
		}
	}
}

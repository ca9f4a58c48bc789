//go:build unix

package gemini_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/runner/gemini"
	"github.com/fermata-hq/fermata/internal/runner/runnertest"
)

// quietHandle is a handle whose calls do not matter.
type quietHandle struct{ dir string }

func (q quietHandle) Dir() string                        { return q.dir }
func (quietHandle) Log() io.Writer                       { return io.Discard }
func (quietHandle) Progress(fermata.Progress)            {}
func (quietHandle) Inbox() <-chan *fermata.ResumeContext { return nil }
func (quietHandle) KeepSession(fermata.Session)          {}

// The user's settings and logins stay in force, and no file of the user is written.
func TestHomeKeepsTheUsers(t *testing.T) {
	t.Parallel()
	home, folder, dir := t.TempDir(), t.TempDir(), t.TempDir()
	theirs := `{
	// mine
	"model": {"name": "https://x/*no comment*/"}, /* and
	mine */ "mcpServers": {"other": {"command": "other"}},
	"hooks": {"AfterTool": [{"matcher": "mine"}]}
}`
	writeFile(t, filepath.Join(home, ".gemini", "settings.json"), theirs)
	writeFile(t, filepath.Join(home, ".gemini", "oauth_creds.json"), "secret")
	r := gemini.New(agent.Options{
		Program: runnertest.WriteScript(t, `cp "$GEMINI_CLI_HOME/.gemini/settings.json" "$GEMINI_CLI_HOME/.gemini/oauth_creds.json" .
echo '{"type":"result","status":"success"}'`),
		Fermata: "/opt/fer mata", Folder: folder, SetEnv: []string{"HOME=" + home},
	})
	claim := &fermata.Claim{Task: &fermata.Task{ID: "task_1", Title: "Paint"}, Run: &fermata.Run{ID: "run_1"}, Context: &fermata.ResumeContext{}}
	for range 2 { // the second run finds the home of the first
		if fin, err := r.Run(context.Background(), claim, quietHandle{dir}); err != nil || fin.Result != "" {
			t.Fatalf("got %+v: %v", fin, err)
		}
	}
	var got struct {
		Model      struct{ Name string }
		MCPServers map[string]struct {
			Command string
			Args    []string
			Env     map[string]string
		}
		Hooks struct {
			AfterTool []struct {
				Matcher string
				Hooks   []struct{ Command string }
			}
		}
	}
	if err := json.Unmarshal(readFile(t, filepath.Join(dir, "settings.json")), &got); err != nil {
		t.Fatal(err)
	}
	if got.Model.Name != "https://x/*no comment*/" || got.MCPServers["other"].Command != "other" {
		t.Errorf("the user's settings are lost: %+v", got)
	}
	if s := got.MCPServers["fermata"]; s.Command != "/opt/fer mata" || s.Env["FERMATA_TASK"] != "${FERMATA_TASK}" {
		t.Errorf("the server is %+v", s)
	}
	after := got.Hooks.AfterTool
	if len(after) != 2 || after[0].Matcher != "mine" || !strings.HasPrefix(after[1].Hooks[0].Command, "'/opt/fer mata' hook gemini --worker") {
		t.Errorf("the hooks are %+v", after)
	}
	if string(readFile(t, filepath.Join(dir, "oauth_creds.json"))) != "secret" {
		t.Error("the user's login is not there")
	}
	if string(readFile(t, filepath.Join(home, ".gemini", "settings.json"))) != theirs {
		t.Error("the user's settings were written to")
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

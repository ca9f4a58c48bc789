//go:build unix

package app

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/runner/claude"
	"github.com/fermata-hq/fermata/internal/runner/codex"
	"github.com/fermata-hq/fermata/internal/runner/gemini"
	"github.com/fermata-hq/fermata/internal/runner/opencode"
	"github.com/fermata-hq/fermata/test/script"
)

// sessionHandle keeps the session of a run.
type sessionHandle struct {
	dir  string
	kept fermata.Session
}

func (d *sessionHandle) Dir() string                          { return d.dir }
func (d *sessionHandle) Log() io.Writer                       { return io.Discard }
func (d *sessionHandle) Progress(fermata.Progress)            {}
func (d *sessionHandle) Inbox() <-chan *fermata.ResumeContext { return nil }
func (d *sessionHandle) MarkTold(*fermata.ResumeContext)      {}
func (d *sessionHandle) KeepSession(s fermata.Session)        { d.kept = s }

// The command line with which a person takes over a session finds the session.
// The program looks for its sessions where the worker's program did, in a shell
// without the worker's environment.
func TestTheLineThatTakesOverFindsTheSession(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct {
		name, place, begins string
		make                func(agent.Options) *agent.Runner
	}{
		{claude.Name, "CLAUDE_CONFIG_DIR", `{"type":"system","subtype":"init","session_id":"s-1"}`, claude.New},
		{codex.Name, "CODEX_HOME", `{"type":"thread.started","thread_id":"s-1"}`, codex.New},
		{gemini.Name, "GEMINI_CLI_HOME", `{"type":"init","session_id":"s-1"}`, gemini.New},
		{opencode.Name, "XDG_DATA_HOME", `{"type":"text","sessionID":"s-1","part":{}}`, opencode.New},
	} {
		for _, own := range []bool{false, true} {
			t.Run(kind.name, func(t *testing.T) {
				t.Parallel()
				dir, folder, users := t.TempDir(), filepath.Join(t.TempDir(), "its own"), os.Getenv("HOME")
				program := filepath.Join(dir, "the program")
				script.Write(t, program, "echo \"$HOME $"+kind.place+"\" >>homes\nprintf '%s\\n' '"+kind.begins+"'")
				o := agent.Options{Program: program, Fermata: "/bin/false", Folder: folder}
				o.SetEnv = []string{"HOME=" + users}
				if own {
					home := t.TempDir()
					o.SetEnv = []string{"HOME=" + home, kind.place + "=" + filepath.Join(home, "a place")}
				}
				handle := &sessionHandle{dir: dir}
				claim := &fermata.Claim{Task: &fermata.Task{ID: "task_1", Title: "Paint"}, Run: &fermata.Run{ID: "run_1"}, Context: &fermata.ResumeContext{}}
				// It does not matter for this test how the run ends.
				_, _ = kind.make(o).Run(context.Background(), claim, handle)
				handle.kept.Dir = dir
				byWorker := takeHomes(t, dir)

				line := handle.kept.OpenCommand()
				byHand := exec.CommandContext(t.Context(), "sh", "-c", line)
				byHand.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + users}
				if out, err := byHand.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v %s", line, err, out)
				}
				if got := takeHomes(t, dir); got != byWorker || byWorker == "" {
					t.Errorf("%s looks in\n%s, the worker's program in\n%s", line, got, byWorker)
				}
			})
		}
	}
}

// takeHomes returns the text that the program wrote last, and removes it.
func takeHomes(t *testing.T, dir string) string {
	t.Helper()
	name := filepath.Join(dir, "homes")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

package desk_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/scriptedmodel"
	"github.com/fermata-hq/fermata/test/agent"
	"github.com/fermata-hq/fermata/test/patience"
)

// waker is a hook that waits to wake the session.
type waker struct {
	*exec.Cmd
	said  bytes.Buffer
	ended chan error
}

// wake starts the hook that wakes the session of a program with the process id.
func (n *newsroom) wake(pid int, env ...string) *waker {
	n.Helper()
	w := &waker{Cmd: exec.CommandContext(n.Context(), agent.Fermata(n), "hook", "claude", "--wake"), ended: make(chan error, 1)}
	w.Env = append(append(n.env, "CLAUDE_CODE_SESSION_ATTENDED=1", fmt.Sprintf("CLAUDE_PID=%d", pid)), env...)
	w.Stdin = strings.NewReader(`{"session_id":"s","hook_event_name":"Stop"}`)
	w.Stderr = &w.said
	n.OK(w.Start())
	go func() { w.ended <- w.Wait() }()
	return w
}

// end waits until the hook ends, and returns its exit code.
func (n *newsroom) end(w *waker) int {
	n.Helper()
	_ = patience.Receive(n, "the hook ends", w.ended)
	return w.ProcessState.ExitCode()
}

// waits waits until the hook has written the file that marks it as waiting.
func (n *newsroom) waits() {
	n.Helper()
	patience.Await(n, "the hook waits", func() bool {
		found, err := filepath.Glob(filepath.Join(n.notes, "*.wait"))
		n.OK(err)
		return len(found) == 1
	})
}

// An idle session is woken once, with the answer or the words of a person.
func TestAnIdleSessionIsWoken(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(n *newsroom) string{
		"with an answer": func(n *newsroom) string {
			_, err := n.person.Answer(n.Context(), n.asked.ID, fermata.Answer{Answer: "green"})
			n.OK(err)
			return "green"
		},
		"with words": func(n *newsroom) string {
			_, err := n.person.Clarify(n.Context(), n.asked.ID, "for which fence?")
			n.OK(err)
			return "for which fence?"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNewsroom(t, "claude")
			w := n.wake(os.Getpid())
			n.waits()
			if second := n.wake(os.Getpid()); n.end(second) != 0 || second.said.Len() > 0 {
				t.Errorf("a second hook said %s", second.said.String())
			}
			want := say(n)
			if code := n.end(w); code != 2 || !strings.Contains(w.said.String(), want) {
				t.Errorf("the hook ended with %d and said %s", code, w.said.String())
			}
			if said := n.hook("claude", "Stop"); said != "" {
				t.Errorf("the agent is told again %s", said)
			}
			if left, err := filepath.Glob(filepath.Join(n.notes, "*.wait")); err != nil || len(left) > 0 {
				t.Errorf("there are left %v %v", left, err)
			}
		})
	}
}

// The hook does not wait if no person is at the program, if no question is open, or if the program has ended.
func TestNobodyIsWoken(t *testing.T) {
	t.Parallel()
	gone := exec.CommandContext(t.Context(), "true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	for name, start := range map[string]func(n *newsroom) *waker{
		"a program that answers one prompt": func(n *newsroom) *waker {
			return n.wake(os.Getpid(), "CLAUDE_CODE_SESSION_ATTENDED=0")
		},
		"a program that does not say whether somebody is there": func(n *newsroom) *waker {
			return n.wake(os.Getpid(), "CLAUDE_CODE_SESSION_ATTENDED=")
		},
		"a session that asked nothing": func(n *newsroom) *waker {
			n.forget()
			return n.wake(os.Getpid())
		},
		"a program that has ended": func(n *newsroom) *waker {
			return n.wake(gone.Process.Pid)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNewsroom(t, "claude")
			w := start(n)
			if code := n.end(w); code != 0 || w.said.Len() > 0 {
				t.Errorf("the hook ended with %d and said %s", code, w.said.String())
			}
		})
	}
}

// terminal is a program on a terminal of its own.
type terminal struct {
	*testing.T
	dir string
}

func newTerminal(t *testing.T, dir string, env agent.Env, program ...string) *terminal {
	t.Helper()
	// The name of a socket has at most 107 bytes.
	short, err := os.MkdirTemp("", "tmux") //nolint:usetesting // a name that the test has no part in
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	term := &terminal{T: t, dir: short}
	line := "cd " + quoted(dir) + " && exec env -i"
	for _, word := range append(append([]string(env), "TERM=xterm-256color", "LANG=C.UTF-8"), program...) {
		line += " " + quoted(word)
	}
	if out, err := term.tmux("new-session", "-d", "-s", "desk", "-x", "120", "-y", "40", line); err != nil {
		t.Fatalf("tmux: %v %s", err, out)
	}
	t.Cleanup(func() { _, _ = term.tmux("kill-server") })
	return term
}

func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

func (t *terminal) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-u", "-L", "desk", "-f", os.DevNull}, args...)...)
	cmd.Env = append(os.Environ(), "TMUX_TMPDIR="+t.dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// shows waits until the screen contains the text.
func (t *terminal) shows(text string) {
	t.Helper()
	screen := ""
	defer func() {
		if t.Failed() {
			t.Logf("the screen shows\n%s", screen)
		}
	}()
	patience.Await(t, "the terminal shows "+text, func() bool {
		var err error
		screen, err = t.tmux("capture-pane", "-p", "-t", "desk")
		if err != nil {
			t.Fatalf("tmux: %v %s", err, screen)
		}
		return strings.Contains(screen, text)
	})
}

// enter types a line.
func (t *terminal) enter(line string) {
	t.Helper()
	for _, keys := range [][]string{{"-l", line}, {"Enter"}} {
		if out, err := t.tmux(append([]string{"send-keys", "-t", "desk"}, keys...)...); err != nil {
			t.Fatalf("tmux: %v %s", err, out)
		}
	}
}

// Claude Code that has ended its turn continues by itself as soon as a person has answered.
func TestAnIdleClaudeIsWoken(t *testing.T) {
	t.Parallel()
	ask := scriptedmodel.Call("~ask_user", map[string]any{"question": "Which colour?"})
	d := newScriptedDesk(t, scriptedmodel.Script{Rules: []scriptedmodel.Rule{
		{Name: "ask", When: scriptedmodel.When{Offered: "~ask_user", NotAny: "Which colour?"}, Reply: []scriptedmodel.Part{ask}},
		// Claude Code starts its MCP servers while it works, so it first looks around.
		{Name: "look around", When: scriptedmodel.When{NotAny: "Which colour?"}, Reply: []scriptedmodel.Part{scriptedmodel.Call("Glob", map[string]any{"pattern": "*"})}},
		{Name: "go on", When: scriptedmodel.When{Last: "a dark green"}, Reply: scriptedmodel.Say("I paint it dark green.")},
	}})
	env := d.room.Claude(t)
	d.install("claude", env)
	d.isAtHome()
	screen := newTerminal(t, d.room.Work, d.env, agent.Program(t, "claude"))
	screen.shows("❯")
	screen.enter("Paint the fence.")
	screen.shows("I am done.")
	asked, _, err := d.person.Questions(t.Context(), client.QuestionQuery{})
	if err != nil || len(asked) != 1 {
		t.Fatalf("asked are %v, %v", asked, err)
	}
	if _, err := d.person.Answer(t.Context(), asked[0].ID, fermata.Answer{Answer: "a dark green"}); err != nil {
		t.Fatal(err)
	}
	screen.shows("I paint it dark green.")
}

// isAtHome writes the settings of a person who has started Claude Code before, so that it does not ask for them.
func (d *desk) isAtHome() {
	d.Helper()
	file := filepath.Join(d.room.Home, ".claude.json")
	settings := map[string]any{}
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &settings)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		d.Fatal(err)
	}
	settings["hasCompletedOnboarding"], settings["theme"] = true, "dark"
	settings["customApiKeyResponses"] = map[string]any{"approved": []string{"sk-dummy"}}
	settings["projects"] = map[string]any{d.room.Work: map[string]any{"hasTrustDialogAccepted": true}}
	data, err = json.Marshal(settings)
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		d.Fatal(err)
	}
}

//go:build agents

package acp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/agent"
	"github.com/fermata-hq/fermata/test/scriptedmodel"
)

type (
	rule = scriptedmodel.Rule
	when = scriptedmodel.When
	part = scriptedmodel.Part
	args = map[string]any
)

// kinds are the agents, with the name of their tool for commands.
var kinds = map[string]struct {
	shell string
	start func(t *testing.T, room *agent.Room) *lab
}{
	"opencode": {"bash", func(t *testing.T, room *agent.Room) *lab {
		// Without this it runs commands unasked.
		settings := []byte(`{"permission": {"bash": "ask"}}`)
		if err := os.WriteFile(filepath.Join(room.Work, "opencode.json"), settings, 0o600); err != nil {
			t.Fatal(err)
		}
		return start(t, room, room.OpenCode(t), agent.Program(t, "opencode"), "acp")
	}},
	"gemini": {"run_shell_command", func(t *testing.T, room *agent.Room) *lab {
		return start(t, room, room.Gemini(t), agent.Program(t, "gemini"), "--acp")
	}},
}

// each plays a story with each agent.
func each(t *testing.T, story func(l *lab), rules func(shell string) []rule) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story(kind.start(t, agent.NewRoom(t, scriptedmodel.Script{Rules: rules(kind.shell)})))
		})
	}
}

// The agent asks by Fermata's tool and is stopped; server and worker die; a person
// answers at a terminal; the same session goes on and its work is committed.
func TestAsksAndIsResumed(t *testing.T) {
	t.Parallel()
	each(t, func(l *lab) {
		task := l.create("Paint the fence")
		task = l.state(task.ID, fermata.TaskAwaitingInput)
		l.gone()
		session := task.Session.ID
		l.crash()
		l.cli("respond", task.PendingQuestionID, "green")
		task = l.state(task.ID, fermata.TaskDone)
		if session == "" || task.Session.ID != session || task.Summary != "The fence is green." {
			l.Errorf("the session %q went on as %q: %s\n%s", session, task.Session.ID, task.Summary, l.log(task))
		}
		c := l.only("done")
		if calls := c.Calls("ask_user"); len(calls) != 1 || !strings.Contains(c.Last(), "Answered by admin") || !strings.Contains(c.Last(), "green") {
			l.Errorf("the session has the calls %+v, and was told\n%s", calls, c.Last())
		}
	}, func(string) []rule {
		return []rule{
			{Name: "ask", When: when{Turn: new(0)}, Reply: []part{scriptedmodel.Call("~ask_user", args{"question": "Which colour?"})}},
			{Name: "done", When: when{Last: "Answered by"}, Reply: scriptedmodel.Say("The fence is green.")},
		}
	})
}

// A command waits for an approval: it has not run before, and runs once after, in
// the session that was loaded again.
func TestCommandIsApproved(t *testing.T) {
	t.Parallel()
	const command = "echo once >>ran.txt"
	each(t, func(l *lab) {
		task := l.create("Run it")
		task = l.state(task.ID, fermata.TaskAwaitingApproval)
		l.gone()
		session := task.Session.ID
		q, err := l.admin.Question(l.Context(), task.PendingQuestionID)
		if err != nil || q.Title != "execute: "+command || !strings.Contains(string(q.Action), "ran.txt") {
			l.Errorf("asked %q about %s: %v", q.Title, q.Action, err)
		}
		if _, err := os.Stat(filepath.Join(l.folder, "w", task.ID, "ran.txt")); err == nil {
			l.Error("it ran before it was approved")
		}
		l.crash()
		l.cli("approve", "--yes", task.PendingQuestionID)
		task = l.state(task.ID, fermata.TaskDone)
		if text := l.git("show", "fermata/"+task.ID+":ran.txt"); text != "once\n" {
			l.Errorf("it left %q behind\n%s", text, l.log(task))
		}
		if task.Session.ID != session {
			l.Errorf("the session %s went on as %s\n%s", session, task.Session.ID, l.log(task))
		}
	}, func(shell string) []rule {
		run := []part{scriptedmodel.Call("~"+shell, args{"command": command, "description": "x"})}
		return []rule{
			{Name: "run", When: when{Turn: new(0)}, Reply: run},
			{Name: "again", When: when{Last: "Answered by"}, Times: 1, Reply: run},
			{Name: "done", Reply: scriptedmodel.Say("It ran.")},
		}
	})
}

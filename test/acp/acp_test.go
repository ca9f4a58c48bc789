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

// kind is one agent.
type kind struct {
	name string
	// shell is the name of its tool for commands.
	shell string
	// ask is how it asks by Fermata's tools, and state the one of its task then. Gemini CLI hides every
	// tool with the name ask_user from agents in this mode.
	ask   part
	state fermata.TaskState
	// loads says that it loads a session that was stopped in the middle of a turn. Where it does
	// not, a new one is told what was asked and answered.
	loads bool
	start func(t *testing.T, room *agent.Room) *lab
}

var kinds = []kind{
	{
		"opencode", "bash", scriptedmodel.Call("~ask_user", args{"question": "Which colour?"}), fermata.TaskAwaitingInput, true,
		func(t *testing.T, room *agent.Room) *lab {
			// Without this it runs commands unasked.
			settings := []byte(`{"permission": {"bash": "ask"}}`)
			if err := os.WriteFile(filepath.Join(room.Work, "opencode.json"), settings, 0o600); err != nil {
				t.Fatal(err)
			}
			return start(t, room, room.OpenCode(t), agent.Program(t, "opencode"), "acp")
		},
	},
	{
		"gemini", "run_shell_command", scriptedmodel.Call("~request_approval", args{"command": "paint --green"}), fermata.TaskAwaitingApproval, false,
		func(t *testing.T, room *agent.Room) *lab {
			return start(t, room, room.Gemini(t), agent.Program(t, "gemini"), "--acp")
		},
	},
}

// answer answers the question with which an agent stopped.
func (l *lab) answer(q string, k kind) {
	l.Helper()
	if k.state == fermata.TaskAwaitingApproval {
		l.cli("approve", "--yes", q)
		return
	}
	l.cli("respond", q, "green")
}

// each plays a story with each agent.
func each(t *testing.T, story func(l *lab, k kind), rules func(k kind) []rule) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			story(k.start(t, agent.NewRoom(t, scriptedmodel.Script{Rules: rules(k)})), k)
		})
	}
}

// The agent asks by Fermata's tool and is stopped; server and worker die; a person
// answers at a terminal; the work goes on to the end, in the same session where the agent
// can load it.
func TestAsksAndIsResumed(t *testing.T) {
	t.Parallel()
	each(t, func(l *lab, k kind) {
		task := l.create("Paint the fence")
		task = l.state(task.ID, k.state)
		l.gone()
		session := task.Session.ID
		l.crash()
		l.answer(task.PendingQuestionID, k)
		task = l.state(task.ID, fermata.TaskDone)
		if session == "" || k.loads && task.Session.ID != session || task.Summary != "The fence is green." {
			l.Errorf("the session %q went on as %q: %s\n%s", session, task.Session.ID, task.Summary, l.log(task))
		}
		if c := l.only("done"); !strings.Contains(c.Last(), "Answered by admin") || !strings.Contains(c.Text(), "# Paint the fence") {
			l.Errorf("the session was told\n%s", c.Last())
		}
	}, func(k kind) []rule {
		return []rule{
			{Name: "done", When: when{Last: "Answered by"}, Reply: scriptedmodel.Say("The fence is green.")},
			{Name: "ask", When: when{Turn: new(0)}, Reply: []part{{Text: "I must know."}, k.ask}},
		}
	})
}

// A command waits for an approval: it has not run before, and runs once after, in
// the session that was loaded again where the agent can.
func TestCommandIsApproved(t *testing.T) {
	t.Parallel()
	const command = "echo once >>ran.txt"
	each(t, func(l *lab, k kind) {
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
		if k.loads && task.Session.ID != session {
			l.Errorf("the session %s went on as %s\n%s", session, task.Session.ID, l.log(task))
		}
	}, func(k kind) []rule {
		run := []part{scriptedmodel.Call("~"+k.shell, args{"command": command, "description": "x"})}
		return []rule{
			{Name: "run", When: when{Turn: new(0)}, Reply: run},
			{Name: "again", When: when{Last: "Answered by"}, Times: 1, Reply: run},
			{Name: "done", Reply: scriptedmodel.Say("It ran.")},
		}
	})
}

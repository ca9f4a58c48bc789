//go:build agents

package acp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/scriptedmodel"
	"github.com/fermata-hq/fermata/test/agent"
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
	// shell is the name of its tool for commands. ask is the name by which its model calls Fermata's tool for questions.
	shell, ask string
	env        func(*agent.Room, testing.TB) agent.Env
	// args are the arguments of the program.
	args []string
}

var kinds = []kind{
	{"opencode", "bash", "~ask_person", (*agent.Room).OpenCode, []string{"acp"}},
	{"gemini", "run_shell_command", "~ask_person", (*agent.Room).Gemini, []string{"--acp"}},
	{"claude-agent-acp", "Bash", "mcp__fermata__ask_person", (*agent.Room).Claude, nil},
}

// lab starts a server for the agent, with a repository.
func (k kind) lab(t *testing.T, room *agent.Room) *agent.Lab {
	t.Helper()
	return newLab(t, room, k.env(room, t), append([]string{agent.Program(t, k.name)}, k.args...)...)
}

// each plays a story with each agent.
func each(t *testing.T, story func(l *agent.Lab, k kind), rules func(k kind) []rule) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			l := k.lab(t, agent.NewRoom(t, scriptedmodel.Script{Rules: rules(k)}))
			l.StartWorker()
			story(l, k)
		})
	}
}

// The agent asks with Fermata's tool and is stopped. The server and the worker are
// killed. A person answers in a terminal, and the same session completes the task.
func TestAsksAndIsResumed(t *testing.T) {
	t.Parallel()
	each(t, func(l *agent.Lab, k kind) {
		task := l.CreateTask("Paint the fence", "")
		task = l.AwaitState(task.ID, fermata.TaskAwaitingInput)
		l.CheckAgentsGone()
		session := task.Session.ID
		l.Crash()
		l.RunCLI("respond", task.PendingQuestionID, "green")
		task = l.AwaitState(task.ID, fermata.TaskDone)
		if session == "" || task.Session.ID != session || task.Summary != "The fence is green." {
			l.Errorf("the session %q went on as %q: %s\n%s", session, task.Session.ID, task.Summary, l.RunLog(task))
		}
		if c := l.OnlyConversation("done"); !strings.Contains(c.Last(), "Answered by admin") || !strings.Contains(c.Text(), "# Paint the fence") {
			l.Errorf("the session was told\n%s", c.Last())
		}
	}, func(k kind) []rule {
		return []rule{
			{Name: "done", When: when{Last: "Answered by"}, Reply: scriptedmodel.Say("The fence is green.")},
			{Name: "ask", When: when{Turn: new(0)}, Reply: []part{{Text: "I must know."}, scriptedmodel.Call(k.ask, args{"question": "Which colour?"})}},
		}
	})
}

// A command waits for an approval. It does not run before the approval, and runs
// once after it. If the agent can load a session, it continues the same one.
func TestCommandIsApproved(t *testing.T) {
	t.Parallel()
	const command = "echo once >>ran.txt"
	each(t, func(l *agent.Lab, k kind) {
		task := l.CreateTask("Run it", "")
		task = l.AwaitState(task.ID, fermata.TaskAwaitingApproval)
		l.CheckAgentsGone()
		session := task.Session.ID
		q, err := l.Admin.Question(l.Context(), task.PendingQuestionID)
		if err != nil || q.Title != "execute: "+command || !strings.Contains(string(q.Action), "ran.txt") {
			l.Errorf("asked %q about %s: %v", q.Title, q.Action, err)
		}
		if _, err := os.Stat(filepath.Join(l.Folder, task.ID, "ran.txt")); err == nil {
			l.Error("it ran before it was approved")
		}
		l.Crash()
		l.RunCLI("approve", "--yes", task.PendingQuestionID)
		task = l.AwaitState(task.ID, fermata.TaskDone)
		if text := l.RunGit("show", "fermata/"+task.ID+":ran.txt"); text != "once\n" {
			l.Errorf("it left %q behind\n%s", text, l.RunLog(task))
		}
		if task.Session.ID != session {
			l.Errorf("the session %s went on as %s\n%s", session, task.Session.ID, l.RunLog(task))
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

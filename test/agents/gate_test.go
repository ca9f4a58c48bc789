package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/scriptedmodel"
	"github.com/fermata-hq/fermata/test/agent"
)

// shell describes how an agent runs a command: its tool, the argument with the
// command, and the tool's name in gates.
type shell struct{ tool, argument, gated string }

func (s shell) call(command string) scriptedmodel.Part {
	return scriptedmodel.Call(s.tool, map[string]any{s.argument: command, "description": "Paint"})
}

func (w *world) rule(n fermata.NewGateRule) {
	w.Helper()
	if _, err := w.Admin.AddGateRule(w.Context(), n); err != nil {
		w.Fatal(err)
	}
}

// testGate lets an agent run three commands: a rule allows the first and denies the
// second, and people decide on the third. The third stops the run. After the approval,
// it runs once, in the same session. If the agent repeats it, Fermata asks again.
func testGate(t *testing.T, k kind, s shell) {
	k.allow = ""
	turns := []int{0, 1, 2}
	ask := []scriptedmodel.Part{s.call("printf x >>asked.txt")}
	w := newWorld(t, k, scriptedmodel.Script{Rules: []scriptedmodel.Rule{
		{Name: "again", When: scriptedmodel.When{Last: "Answered by"}, Times: 1, Reply: ask},
		{Name: "once more", When: scriptedmodel.When{Any: "Answered by"}, Times: 1, Reply: ask},
		{Name: "done", When: scriptedmodel.When{Last: "Answered by"}, Reply: scriptedmodel.Say("The fence is green.")},
		{Name: "allowed", When: scriptedmodel.When{Turn: &turns[0]}, Reply: []scriptedmodel.Part{s.call("touch allowed.txt")}},
		{Name: "denied", When: scriptedmodel.When{Turn: &turns[1]}, Reply: []scriptedmodel.Part{s.call("touch denied.txt")}},
		{Name: "asked", When: scriptedmodel.When{Turn: &turns[2]}, Reply: append([]scriptedmodel.Part{{Text: "May I?"}}, ask...)},
		{Name: "not stopped", Hold: true, Reply: scriptedmodel.Say("The run was not stopped.")},
	}})
	for command, decision := range map[string]fermata.GateDecision{"touch allowed*": fermata.GateAllow, "touch denied*": fermata.GateDeny} {
		w.rule(fermata.NewGateRule{Tool: s.gated, Args: map[string]string{"command": command}, Decision: decision, Reason: "a rule says so"})
	}
	task := w.CreateTask("Paint the fence", "All of it.")
	w.RunWorkerOnce()
	waiting := w.wantApproval(task, "printf x")
	if w.exists(task, "asked.txt") || w.exists(task, "denied.txt") || !w.exists(task, "allowed.txt") {
		t.Errorf("asked ran: %v, denied ran: %v, allowed ran: %v", w.exists(task, "asked.txt"), w.exists(task, "denied.txt"), w.exists(task, "allowed.txt"))
	}
	told, err := w.Room.Model.Await(t.Context(), "asked")
	if err != nil || !strings.Contains(told.Conversation.Last(), "a rule says so") {
		t.Errorf("the agent was not told why it was denied: %v\n%s", err, told.Conversation.Last())
	}
	w.Restart()
	w.RunCLI("approve", "--yes", waiting.PendingQuestionID)
	w.RunWorkerOnce()
	second := w.wantApproval(task, "printf x")
	if second.PendingQuestionID == waiting.PendingQuestionID || second.Session.ID != waiting.Session.ID {
		t.Errorf("the session %s waits for %s again as %s", waiting.Session.ID, second.PendingQuestionID, second.Session.ID)
	}
	w.RunCLI("reject", second.PendingQuestionID, "--comment", "once is enough")
	w.RunWorkerOnce()
	done := w.Task(task.ID)
	if done.State != fermata.TaskDone || done.Summary != "The fence is green." || done.Session.ID != waiting.Session.ID {
		t.Fatalf("the task is %s: %s\n%s", done.State, done.Summary, w.RunLog(task))
	}
	if got := w.RunGit("show", "fermata/"+task.ID+":asked.txt"); got != "x" {
		t.Errorf("the branch has %q", got)
	}
}

// wantApproval fails the test unless the task waits for the approval of the command. It
// returns the task.
func (w *world) wantApproval(task *fermata.Task, command string) *fermata.Task {
	w.Helper()
	waiting := w.Task(task.ID)
	if waiting.State != fermata.TaskAwaitingApproval || waiting.Session == nil || waiting.Session.ID == "" {
		w.Fatalf("the task is %s (%s) with the session %+v\n%s", waiting.State, waiting.Summary, waiting.Session, w.RunLog(task))
	}
	q, err := w.Admin.Question(w.Context(), waiting.PendingQuestionID)
	if err != nil || !strings.Contains(string(q.Action), command) {
		w.Fatalf("people are shown %s: %v", q.Action, err)
	}
	return waiting
}

// testDenies checks that a rule which denies everything is obeyed, whatever the project's
// settings allow.
func testDenies(t *testing.T, k kind) {
	for settings, open := range map[string]bool{"none": false, "open": true} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			agent.CheckDeny(t, k.name, open, func(room *agent.Room) *agent.Lab {
				l := agent.NewLab(t, room, k.env(room, t), "--runner", k.name, "--program", agent.Program(t, k.name))
				l.Command = k.args
				return l
			})
		})
	}
}

// testClosed kills the server before the agent runs a command. The command must not
// run, and the agent must be told.
func testClosed(t *testing.T, k kind, s shell) {
	k.allow = s.gated
	first := 0
	w := newWorld(t, k, scriptedmodel.Script{Rules: []scriptedmodel.Rule{
		{Name: "act", When: scriptedmodel.When{Turn: &first}, Hold: true, Reply: []scriptedmodel.Part{s.call("touch ran.txt")}},
		{Name: "told", Reply: scriptedmodel.Say("I may not.")},
	}})
	task := w.CreateTask("Paint the fence", "All of it.")
	worker := w.LaunchWorker("--lease", "5m")
	if _, err := w.Room.Model.Await(t.Context(), "act"); err != nil {
		t.Fatal(err)
	}
	w.Server.Kill()
	w.Room.Model.Release("act")
	told, err := w.Room.Model.Await(t.Context(), "told")
	if err != nil {
		t.Fatal(err)
	}
	worker.Kill()
	if !strings.Contains(told.Conversation.Last(), "may not run") || w.exists(task, "ran.txt") {
		t.Errorf("the command ran: %v; the agent was told\n%s", w.exists(task, "ran.txt"), told.Conversation.Last())
	}
}

// testUngated removes the hooks from the program. The run must fail as soon as the
// agent acts, and give the reason.
func testUngated(t *testing.T, k kind, s shell, ungate func(w *world)) *world {
	t.Helper()
	w := newWorld(t, k, scriptedmodel.Script{Rules: []scriptedmodel.Rule{{Name: "act", Reply: []scriptedmodel.Part{s.call("touch ran.txt")}}}})
	ungate(w)
	task := w.CreateTask("Paint the fence", "All of it.")
	w.RunWorkerOnce()
	failed := w.Task(task.ID)
	if failed.State != fermata.TaskFailed || !strings.Contains(failed.Summary, "does not call the hooks") {
		t.Errorf("the task is %s: %s\n%s", failed.State, failed.Summary, w.RunLog(task))
	}
	return w
}

// exists reports whether a file is in the working copy of a task.
func (w *world) exists(task *fermata.Task, name string) bool {
	_, err := os.Stat(filepath.Join(w.Folder, task.ID, name))
	return err == nil
}

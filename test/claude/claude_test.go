package claude

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/scriptedmodel"
	"github.com/fermata-hq/fermata/test/agent"
	"github.com/fermata-hq/fermata/test/patience"
)

type (
	rule = scriptedmodel.Rule
	when = scriptedmodel.When
	part = scriptedmodel.Part
	args = map[string]any
)

// paint returns the rules by which the resumed agent changes a file in its working copy.
func paint(when when) []rule {
	return []rule{
		{Name: "paint", When: when, Times: 1, Reply: []part{
			{Text: "I paint it."}, scriptedmodel.Call("Write", args{"file_path": "fence.txt", "content": "green\n"}),
		}},
		{Name: "done", When: scriptedmodel.When{Last: "fence.txt"}, Reply: scriptedmodel.Say("The fence is green.")},
	}
}

// Claude Code asks and its process ends. The server and the worker are killed and
// started again. A person answers in a terminal, and the same session continues
// and commits.
func TestClaudeAsksAndIsResumed(t *testing.T) {
	t.Parallel()
	l := newLab(t, append(paint(when{Last: "Answered by"}), rule{
		Name: "ask", When: when{Turn: new(0)}, Reply: []part{
			{Text: "I must know the colour."},
			scriptedmodel.Call("~ask_user", args{"question": "Which colour?", "options": []args{{"label": "green"}, {"label": "red"}}}),
		},
	})...)
	task := l.CreateTask("Paint the fence", "All of it.")
	task = l.AwaitState(task.ID, fermata.TaskAwaitingInput)
	l.CheckAgentsGone()
	session := task.Session.ID
	if session == "" || task.Session.Runner != "claude" || task.Session.Settings["permission_mode"] != "acceptEdits" {
		t.Errorf("the session is kept as %+v", task.Session)
	}
	l.Crash()
	l.RunCLI("respond", task.PendingQuestionID, "green")
	task = l.AwaitState(task.ID, fermata.TaskDone)
	if task.Session.ID != session {
		t.Errorf("the session %s went on as %s", session, task.Session.ID)
	}
	if task.Summary != "The fence is green." {
		t.Errorf("the summary is %q", task.Summary)
	}
	c := l.OnlyConversation("paint")
	calls := c.Calls("ask_user")
	if len(calls) != 1 || !strings.Contains(calls[0].Text, "Which colour?") {
		t.Fatalf("the transcript has the calls %+v", calls)
	}
	if r, ok := c.Result(calls[0].ID); !ok || r.Failed || !strings.Contains(r.Text, task.ID) {
		t.Errorf("the call's result is %+v", r)
	}
	if !strings.Contains(c.Last(), "Answered by admin") || !strings.Contains(c.Last(), "green") {
		t.Errorf("the agent was told %s", c.Last())
	}
	if text := l.RunGit("show", "fermata/"+task.ID+":fence.txt"); text != "green\n" {
		t.Errorf("committed is %q", text)
	}
}

// A call of AskUserQuestion is deferred. The same call returns the answer.
func TestClaudeAskUserQuestion(t *testing.T) {
	t.Parallel()
	l := newLab(t, append(paint(when{Last: "have been answered"}), rule{
		Name: "ask", When: when{Turn: new(0)}, Reply: []part{scriptedmodel.Call("AskUserQuestion", args{"questions": []args{{
			"question": "Which colour?", "header": "Colour", "multiSelect": false,
			"options": []args{{"label": "green", "description": "as grass"}, {"label": "red", "description": "as blood"}},
		}}})},
	})...)
	task := l.CreateTask("Paint the fence", "All of it.")
	task = l.AwaitState(task.ID, fermata.TaskAwaitingInput)
	l.CheckAgentsGone()
	l.Crash()
	l.RunCLI("respond", task.PendingQuestionID, "green")
	l.AwaitState(task.ID, fermata.TaskDone)
	c := l.OnlyConversation("paint")
	calls := c.Calls("AskUserQuestion")
	if len(calls) != 1 {
		t.Fatalf("the transcript has the calls %+v", calls)
	}
	if r, _ := c.Result(calls[0].ID); r.Failed || !strings.Contains(r.Text, "green") {
		t.Errorf("the call returned %+v", r)
	}
	for _, it := range c.Entries {
		if it.Role == scriptedmodel.User && strings.Contains(it.Text, "Answered by") {
			t.Errorf("the answer came as a message, too: %s", it.Text)
		}
	}
}

// A lost session is replaced by a new one, which is told the question and the
// answer.
func TestClaudeSessionGone(t *testing.T) {
	t.Parallel()
	l := newLab(t, append(paint(when{Last: "Your session of that time is gone"}), rule{
		Name: "ask", When: when{Turn: new(0)}, Reply: []part{scriptedmodel.Call("~ask_user", args{"question": "Which colour?"})},
	})...)
	task := l.CreateTask("Paint the fence", "All of it.")
	task = l.AwaitState(task.ID, fermata.TaskAwaitingInput)
	if err := os.RemoveAll(filepath.Join(l.Room.Home, ".claude", "projects")); err != nil {
		t.Fatal(err)
	}
	l.RunCLI("respond", task.PendingQuestionID, "green")
	session := task.Session.ID
	task = l.AwaitState(task.ID, fermata.TaskDone)
	if task.Session.ID == session {
		t.Error("the lost session is still the task's")
	}
	told := l.OnlyConversation("paint").Last()
	for _, want := range []string{"# Paint the fence", "All of it.", "Which colour?", "Answered by admin", "green"} {
		if !strings.Contains(told, want) {
			t.Errorf("the new session was not told %q:\n%s", want, told)
		}
	}
	if log := l.RunLog(task); !strings.Contains(log, "cannot be resumed: a new one begins") {
		t.Errorf("the log does not say so:\n%s", log)
	}
}

// A person's message interrupts the agent, which continues with the message.
func TestClaudeIsInterrupted(t *testing.T) {
	t.Parallel()
	l := newLab(t, append(paint(when{Last: "green, please"}), rule{Name: "think", Hold: true, Reply: scriptedmodel.Say("red")})...)
	task := l.createUntil("think")
	l.RunCLI("message", task.ID, "green, please")
	task = l.AwaitState(task.ID, fermata.TaskDone)
	if runs, err := l.Admin.Runs(t.Context(), task.ID); err != nil || len(runs) != 1 {
		t.Errorf("it took %d runs, %v", len(runs), err)
	}
	if told := l.OnlyConversation("paint"); !strings.Contains(told.Text(), "# Paint the fence") {
		t.Errorf("the session that was told knows %s", told.Text())
	}
}

// An agent that got a message and then asks a question does not get the message
// again.
func TestClaudeIsToldOnce(t *testing.T) {
	t.Parallel()
	l := newLab(t, append(paint(when{Last: "Answered by"}),
		rule{Name: "think", When: when{Turn: new(0), NotAny: "ask me"}, Hold: true, Reply: scriptedmodel.Say("red")},
		rule{Name: "ask", When: when{Last: "ask me"}, Reply: []part{scriptedmodel.Call("~ask_user", args{"question": "Which colour?"})}},
	)...)
	task := l.createUntil("think")
	l.RunCLI("message", task.ID, "ask me for the colour")
	task = l.AwaitState(task.ID, fermata.TaskAwaitingInput)
	l.RunCLI("respond", task.PendingQuestionID, "green")
	l.AwaitState(task.ID, fermata.TaskDone)
	if n := strings.Count(l.OnlyConversation("paint").Text(), "ask me for the colour"); n != 1 || len(l.RequestsOf("ask")) != 1 {
		t.Errorf("the agent was told %d times and asked %d times", n, len(l.RequestsOf("ask")))
	}
}

// A command waits for an approval. It does not run before the approval, and runs
// once after it.
func TestClaudeCommandIsApproved(t *testing.T) {
	t.Parallel()
	command := "echo once >>ran.txt && cat ran.txt"
	l := newLab(t,
		rule{Name: "run", When: when{Turn: new(0)}, Reply: []part{scriptedmodel.Call("Bash", args{"command": command, "description": "x"})}},
		rule{Name: "done", Reply: scriptedmodel.Say("It ran.")},
	)
	task := l.CreateTask("Run it", "")
	task = l.AwaitState(task.ID, fermata.TaskAwaitingApproval)
	l.CheckAgentsGone()
	ran := filepath.Join(l.Folder, task.ID, "ran.txt")
	if _, err := os.Stat(ran); err == nil {
		t.Error("it ran before it was approved")
	}
	l.RunCLI("approve", "--yes", task.PendingQuestionID, "--comment", "and never on a Friday")
	task = l.AwaitState(task.ID, fermata.TaskDone)
	if text := l.RunGit("show", "fermata/"+task.ID+":ran.txt"); text != "once\n" {
		t.Errorf("it left %q behind", text)
	}
	c := l.OnlyConversation("done")
	if !strings.Contains(c.Last(), "and never on a Friday") {
		t.Errorf("the agent was not told the comment:\n%s", c.Last())
	}
	if r, _ := c.Result(c.Calls("Bash")[0].ID); r.Failed || !strings.Contains(r.Text, "once") {
		t.Errorf("the call returned %+v", r)
	}
}

// For a file outside the working copy, Claude Code itself asks for permission, in addition
// to the hooks. No process waits for that either: the agent is told to stop, and repeats
// the call after the approval.
func TestClaudeWritesElsewhere(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "elsewhere.txt")
	write := scriptedmodel.Call("Write", args{"file_path": name, "content": "green\n"})
	l := newLab(t,
		rule{Name: "write", When: when{Turn: new(0)}, Reply: []part{write}},
		rule{Name: "stop", When: when{Last: "waiting for a person (question"}, Reply: scriptedmodel.Say("I stop.")},
		rule{Name: "again", When: when{Last: "Answered by"}, Reply: []part{write}},
		rule{Name: "done", Reply: scriptedmodel.Say("It is written.")},
	)
	task := l.CreateTask("Write it", "")
	task = l.AwaitState(task.ID, fermata.TaskAwaitingApproval)
	l.CheckAgentsGone()
	if _, err := os.Stat(name); err == nil {
		t.Error("it was written before it was approved")
	}
	l.RunCLI("approve", "--yes", task.PendingQuestionID)
	task = l.AwaitState(task.ID, fermata.TaskDone)
	if text, err := os.ReadFile(name); string(text) != "green\n" || task.Summary != "It is written." {
		t.Errorf("there is %q, %v; the summary is %q", text, err, task.Summary)
	}
}

// If two calls in one turn need a person, one is deferred. The other is refused
// until the first is answered, because Claude Code would forget the first of two
// deferred calls.
func TestClaudeParallelCalls(t *testing.T) {
	t.Parallel()
	question := func(text string) part {
		return scriptedmodel.Call("AskUserQuestion", args{"questions": []args{{
			"question": text, "header": "H", "multiSelect": false,
			"options": []args{{"label": "green", "description": "g"}, {"label": "red", "description": "r"}},
		}}})
	}
	l := newLab(t, append(paint(when{Last: "have been answered"}), rule{
		Name: "ask", When: when{Turn: new(0)}, Reply: []part{
			question("Which colour?"), question("Which brush?"),
			scriptedmodel.Call("Bash", args{"command": "touch ran.txt", "description": "x"}),
		},
	})...)
	task := l.CreateTask("Paint the fence", "All of it.")
	task = l.AwaitState(task.ID, fermata.TaskAwaitingInput)
	all, _, err := l.Admin.Questions(t.Context(), client.QuestionQuery{TaskID: task.ID})
	if err != nil || len(all) != 1 {
		t.Fatalf("people were asked %d questions, %v", len(all), err)
	}
	l.RunCLI("respond", task.PendingQuestionID, "green")
	l.AwaitState(task.ID, fermata.TaskDone)
	c := l.OnlyConversation("paint")
	answered, refused := 0, 0
	for _, call := range append(c.Calls("AskUserQuestion"), c.Calls("Bash")...) {
		switch r, ok := c.Result(call.ID); {
		case !ok:
			t.Errorf("the call %s got no result", call.Text)
		case r.Failed:
			refused++
		default:
			answered++
		}
	}
	if answered != 1 || refused != 2 {
		t.Errorf("%d calls were answered and %d refused\n%s", answered, refused, agent.Transcript(l.Room.Model))
	}
	if strings.Contains(l.RunGit("ls-tree", "--name-only", "fermata/"+task.ID), "ran.txt") {
		t.Error("the command ran")
	}
}

// A person asks back while a call is deferred. The agent is told, the question
// stays open, and the answer comes later.
func TestClaudeIsAskedBack(t *testing.T) {
	t.Parallel()
	l := newLab(t, append(paint(when{Last: "Answered by"}),
		rule{Name: "ask", When: when{Turn: new(0)}, Reply: []part{scriptedmodel.Call("AskUserQuestion", args{"questions": []args{{
			"question": "Which colour?", "header": "H", "multiSelect": false,
			"options": []args{{"label": "green", "description": "g"}, {"label": "red", "description": "r"}},
		}}})}},
		rule{Name: "told", When: when{Last: "which fence"}, Reply: scriptedmodel.Say("The one in front.")},
		rule{Name: "wait", Reply: scriptedmodel.Say("I wait.")},
	)...)
	task := l.CreateTask("Paint the fence", "All of it.")
	task = l.AwaitState(task.ID, fermata.TaskAwaitingInput)
	question, run := task.PendingQuestionID, task.RunID
	l.RunCLI("clarify", question, "which fence?")
	patience.Await(t, "the agent was told", func() bool { return len(l.RequestsOf("told")) == 1 })
	patience.Await(t, "the task waits again", func() bool {
		again, err := l.Admin.Task(t.Context(), task.ID)
		return err == nil && again.State == fermata.TaskAwaitingInput && again.RunID != run
	})
	l.CheckAgentsGone()
	l.RunCLI("respond", question, "green")
	task = l.AwaitState(task.ID, fermata.TaskDone)
	if told := l.OnlyConversation("paint").Last(); !strings.Contains(told, "green") {
		t.Errorf("the agent was told %s", told)
	}
}

// askColour is the rule by which the agent asks with its own tool.
var askColour = rule{Name: "ask", When: when{Turn: new(0)}, Reply: []part{scriptedmodel.Call("AskUserQuestion", args{"questions": []args{{
	"question": "Which colour?", "header": "H", "multiSelect": false,
	"options": []args{{"label": "green", "description": "g"}, {"label": "red", "description": "r"}},
}}})}}

// A message from before the first run is in the first prompt.
func TestClaudeIsToldWhatWasWrittenBefore(t *testing.T) {
	t.Parallel()
	l := newServer(t, append(paint(when{Last: "green, please"}), rule{Name: "deaf", Reply: scriptedmodel.Say("red")})...)
	task := l.CreateTask("Paint the fence", "All of it.")
	l.RunCLI("message", task.ID, "green, please")
	l.StartWorker()
	l.AwaitState(task.ID, fermata.TaskDone)
	told := l.OnlyConversation("paint").Last()
	for _, want := range []string{"# Paint the fence", "All of it.", "green, please"} {
		if !strings.Contains(told, want) {
			t.Errorf("the first prompt lacks %q:\n%s", want, told)
		}
	}
	if shown := l.RunCLI("show", task.ID); !strings.Contains(shown, "handed to run_") {
		t.Errorf("show does not say that a run was handed the message:\n%s", shown)
	}
}

// If a person asks back, the deferred call returns these words. The agent does nothing
// before it has read them.
func TestClaudeReadsTheWordsFirst(t *testing.T) {
	t.Parallel()
	l := newLab(t, append(paint(when{Last: "which fence"}), askColour, rule{Name: "deaf", Reply: scriptedmodel.Say("I go on without a word.")})...)
	task := l.CreateTask("Paint the fence", "All of it.")
	task = l.AwaitState(task.ID, fermata.TaskAwaitingInput)
	question, run := task.PendingQuestionID, task.RunID
	l.RunCLI("clarify", question, "which fence?")
	patience.Await(t, "the task waits again", func() bool {
		again, err := l.Admin.Task(t.Context(), task.ID)
		return err == nil && again.State == fermata.TaskAwaitingInput && again.RunID != run
	})
	if n := len(l.RequestsOf("deaf")); n > 0 {
		t.Errorf("the agent acted %d times without the words:\n%s", n, agent.Transcript(l.Room.Model))
	}
	c := l.OnlyConversation("paint")
	if r, ok := c.Result(c.Calls("AskUserQuestion")[0].ID); !ok || !strings.Contains(r.Text, "which fence?") || !strings.Contains(r.Text, "Not decided yet") {
		t.Errorf("the call returned %+v", r)
	}
}

// If a person answers and also writes a message, the deferred call returns both.
func TestClaudeReadsTheWordsWithTheAnswer(t *testing.T) {
	t.Parallel()
	l := newServer(t, append(paint(when{Last: "and use less paint"}), askColour, rule{Name: "deaf", Reply: scriptedmodel.Say("I go on without a word.")})...)
	task := l.CreateTask("Paint the fence", "All of it.")
	l.RunWorkerOnce()
	task = l.AwaitState(task.ID, fermata.TaskAwaitingInput)
	l.RunCLI("message", task.ID, "and use less paint")
	l.RunCLI("respond", task.PendingQuestionID, "green")
	l.RunWorkerOnce()
	l.AwaitState(task.ID, fermata.TaskDone)
	if n := len(l.RequestsOf("deaf")); n > 0 {
		t.Errorf("the agent acted %d times without the words:\n%s", n, agent.Transcript(l.Room.Model))
	}
}

// If a person lets the agent decide, the deferred call returns that nobody will answer.
func TestClaudeDecidesItself(t *testing.T) {
	t.Parallel()
	l := newLab(t, append(paint(when{Last: "Decide it yourself"}), askColour, rule{Name: "deaf", Reply: scriptedmodel.Say("I wait.")})...)
	task := l.CreateTask("Paint the fence", "All of it.")
	task = l.AwaitState(task.ID, fermata.TaskAwaitingInput)
	l.RunCLI("resume", task.ID, "--message", "whatever is cheap")
	done := l.AwaitState(task.ID, fermata.TaskDone)
	if done.PendingQuestionID != "" || len(l.RequestsOf("deaf")) > 0 {
		t.Errorf("the task is %+v", done)
	}
	c := l.OnlyConversation("paint")
	if r, _ := c.Result(c.Calls("AskUserQuestion")[0].ID); !strings.Contains(r.Text, "whatever is cheap") {
		t.Errorf("the call returned %+v", r)
	}
}

// A cancellation ends an agent that thinks.
func TestClaudeIsCancelled(t *testing.T) {
	t.Parallel()
	l := newLab(t, rule{Name: "think", Hold: true, Reply: scriptedmodel.Say("red")})
	task := l.createUntil("think")
	l.RunCLI("cancel", task.ID, "--reason", "not now")
	patience.Await(t, "the agent is gone", func() bool { return len(l.AgentPIDs()) == 0 })
}

// The gate refuses the calls of a cancelled agent whose process still runs. Here the
// worker is frozen and does not learn about the cancellation.
func TestClaudeIsGatedAfterItsEnd(t *testing.T) {
	t.Parallel()
	l := newLab(t,
		rule{Name: "write", When: when{Turn: new(0)}, Hold: true, Reply: []part{
			scriptedmodel.Call("Write", args{"file_path": "fence.txt", "content": "green\n"}),
		}},
		rule{Name: "after", Reply: scriptedmodel.Say("I stop.")},
	)
	task := l.createUntil("write")
	l.Freeze()
	l.RunCLI("cancel", task.ID)
	l.Room.Model.Release("write")
	if _, err := l.Room.Model.Await(t.Context(), "after"); err != nil {
		t.Fatal(err)
	}
	c := l.OnlyConversation("after")
	if r, ok := c.Result(c.Calls("Write")[0].ID); !ok || !r.Failed || !strings.Contains(r.Text, "cancelled") {
		t.Errorf("the call of the cancelled task returned %+v", r)
	}
	if _, err := os.Stat(filepath.Join(l.Folder, task.ID, "fence.txt")); err == nil {
		t.Error("the cancelled agent wrote a file")
	}
}

// A person pauses the agent, gets the command line that opens its session, and
// resumes the task with a message about their own work.
func TestClaudeIsTakenOver(t *testing.T) {
	t.Parallel()
	l := newLab(t, append(paint(when{Last: "I painted the posts"}), rule{Name: "think", Hold: true, Reply: scriptedmodel.Say("red")})...)
	task := l.createUntil("think")
	l.RunCLI("pause", task.ID)
	patience.Await(t, "the agent is gone", func() bool { return len(l.AgentPIDs()) == 0 })
	task = l.Task(task.ID)
	if task.State != fermata.TaskDeferred || !task.IsPaused() {
		t.Fatalf("the task is %s, %s", task.State, task.Reason)
	}
	shown := l.RunCLI("show", task.ID)
	line := "claude --resume " + task.Session.ID
	if task.Session.ID == "" || !strings.Contains(shown, "cd ") || !strings.Contains(shown, line) {
		t.Errorf("show does not print %q:\n%s", line, shown)
	}
	l.RunCLI("resume", task.ID, "--message", "I painted the posts.")
	done := l.AwaitState(task.ID, fermata.TaskDone)
	if done.Session.ID != task.Session.ID {
		t.Errorf("the session %s went on as %s", task.Session.ID, done.Session.ID)
	}
	if text := l.RunGit("show", "fermata/"+task.ID+":fence.txt"); text != "green\n" {
		t.Errorf("committed is %q", text)
	}
}

// An agent whose model returns an error fails, and gives the reason.
func TestClaudeFails(t *testing.T) {
	t.Parallel()
	l := newLab(t, rule{Name: "broken", Status: 400})
	task := l.CreateTask("Paint the fence", "")
	task = l.AwaitState(task.ID, fermata.TaskFailed)
	if !strings.Contains(task.Summary, "API Error") {
		t.Errorf("it failed with %q", task.Summary)
	}
}

// In plan mode, people approve the plan, and the agent continues with it.
func TestClaudePlanIsApproved(t *testing.T) {
	t.Parallel()
	l := newServer(t,
		rule{Name: "early", When: when{Turn: new(0)}, Reply: []part{scriptedmodel.Call("ExitPlanMode", args{})}},
		rule{Name: "write", When: when{Turn: new(1)}, Capture: `create your plan at (\S+\.md)`, Reply: []part{
			scriptedmodel.Call("Write", args{"file_path": "$1", "content": "1. Paint it green."}),
		}},
		rule{Name: "plan", When: when{Turn: new(2)}, Reply: []part{scriptedmodel.Call("ExitPlanMode", args{})}},
		rule{Name: "done", Reply: scriptedmodel.Say("I go by the plan.")},
	)
	l.Command = []string{"--permission-mode", "plan"}
	l.StartWorker()
	task := l.CreateTask("Paint the fence", "")
	task = l.AwaitState(task.ID, fermata.TaskAwaitingApproval)
	if shown := l.RunCLI("show", task.PendingQuestionID); !strings.Contains(shown, "Paint it green.") {
		t.Errorf("people are shown %s", shown)
	}
	l.RunCLI("approve", "--yes", task.PendingQuestionID)
	l.AwaitState(task.ID, fermata.TaskDone)
	c := l.OnlyConversation("done")
	calls := c.Calls("ExitPlanMode")
	if r, ok := c.Result(calls[0].ID); !ok || !r.Failed {
		t.Errorf("leaving without a plan returned %+v", r)
	}
	if r, ok := c.Result(calls[1].ID); !ok || r.Failed {
		t.Errorf("the approved call returned %+v", r)
	}
}

// In a sandbox, Claude Code asks, is resumed and commits as without one. It sees neither
// the user's own hooks nor the keys in the user's home. The project has a hook that
// fermata install wrote. This hook stays passive, although the sandbox hides the worker.
func TestClaudeIsIsolated(t *testing.T) {
	t.Parallel()
	room := agent.NewRoom(t, scriptedmodel.Script{Rules: append(paint(when{Last: "Answered by"}), rule{
		Name: "ask", When: when{Turn: new(0)}, Reply: []part{
			scriptedmodel.Call("~ask_user", args{"question": "Which colour?", "options": []args{{"label": "green"}, {"label": "red"}}}),
		},
	})})
	l := &lab{agent.NewLab(t, room, room.Claude(t), "--runner", "claude", "--program", agent.Program(t, "claude"), "--isolate")}
	marks := filepath.Join(t.TempDir(), "ran")
	desk := filepath.Join(room.Home, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(desk), 0o700); err != nil {
		t.Fatal(err)
	}
	hook := `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"touch ` + marks + ` && exit 2"}]}]}}`
	if err := os.WriteFile(desk, []byte(hook), 0o600); err != nil {
		t.Fatal(err)
	}
	l.addDeskHooks()
	task := l.CreateTask("Paint the fence", "All of it.")
	l.RunWorkerOnce()
	waiting := l.Task(task.ID)
	if waiting.State != fermata.TaskAwaitingInput {
		t.Fatalf("the task is %s: %s\n%s", waiting.State, waiting.Summary, l.RunLog(task))
	}
	l.RunCLI("respond", waiting.PendingQuestionID, "green")
	l.RunWorkerOnce()
	if done := l.Task(task.ID); done.State != fermata.TaskDone || done.Session.ID != waiting.Session.ID {
		t.Fatalf("the task is %s: %s\n%s", done.State, done.Summary, l.RunLog(task))
	}
	if text := l.RunGit("show", "fermata/"+task.ID+":fence.txt"); text != "green\n" {
		t.Errorf("the branch has %q", text)
	}
	if text, err := os.ReadFile(desk); err != nil || string(text) != hook {
		t.Errorf("the desk's configuration is %q (%v)", text, err)
	}
}

// addDeskHooks adds the hooks that fermata install writes to the project. Their server cannot be
// reached, so a hook that does not stay passive refuses every call.
func (l *lab) addDeskHooks() {
	l.Helper()
	hook := l.Binary + " hook claude --server http://127.0.0.1:1 --token-file /nowhere"
	settings, err := json.Marshal(args{"hooks": args{"PreToolUse": []args{{"matcher": "*", "hooks": []args{{"type": "command", "command": hook}}}}}})
	if err != nil {
		l.Fatal(err)
	}
	name := filepath.Join(l.Room.Work, ".claude", "settings.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, settings, 0o600)); err != nil {
		l.Fatal(err)
	}
	l.RunGit("add", "--force", ".claude")
	l.RunGit("commit", "--quiet", "-m", "Add the hooks of the desk")
}

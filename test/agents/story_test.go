package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/scriptedmodel"
	"github.com/fermata-hq/fermata/test/patience"
)

// testGone deletes the session while a question waits. A new session must begin and
// be told the question and the answer, and the log must report that.
func testGone(t *testing.T, k kind, forget func(w *world)) {
	w := newWorld(t, k, scriptedmodel.Script{Rules: append(paintRules(k), asks(k)...)})
	task := w.CreateTask("Paint the fence", "All of it.")
	w.RunWorkerOnce()
	waiting := w.Task(task.ID)
	if waiting.State != fermata.TaskAwaitingInput {
		t.Fatalf("the task is %s: %s\n%s", waiting.State, waiting.Summary, w.RunLog(task))
	}
	forget(w)
	w.RunCLI("respond", waiting.PendingQuestionID, "green")
	w.RunWorkerOnce()
	done := w.Task(task.ID)
	if done.State != fermata.TaskDone || done.Session.ID == waiting.Session.ID {
		t.Fatalf("the task is %s: %s, in the session %s\n%s", done.State, done.Summary, done.Session.ID, w.RunLog(task))
	}
	if !strings.Contains(w.RunLog(task), "the session "+waiting.Session.ID+" cannot be resumed: a new one begins") {
		t.Errorf("the log does not say it:\n%s", w.RunLog(task))
	}
	request, err := w.Room.Model.Await(t.Context(), "work")
	if err != nil {
		t.Fatal(err)
	}
	last := request.Conversation.Last()
	for _, want := range []string{"# Paint the fence", "Which colour?", "green", "cannot be resumed"} {
		if !strings.Contains(last, want) {
			t.Errorf("the new session was not told %q:\n%s", want, last)
		}
	}
}

// testInterrupt lets a person write while the agent thinks. The agent is stopped, and
// its session continues with the message.
func testInterrupt(t *testing.T, k kind) {
	first := 0
	w := newWorld(t, k, scriptedmodel.Script{Rules: []scriptedmodel.Rule{
		{Name: "told", When: scriptedmodel.When{Last: "use less paint"}, Reply: scriptedmodel.Say("I use less.")},
		{Name: "look", When: scriptedmodel.When{Turn: &first}, Reply: []scriptedmodel.Part{{Text: "I begin."}, k.write("fence.txt", "wet")}},
		{Name: "think", Hold: true, Reply: scriptedmodel.Say("The run was not interrupted.")},
	}})
	task := w.CreateTask("Paint the fence", "All of it.")
	worker := w.LaunchWorker()
	if _, err := w.Room.Model.Await(t.Context(), "think"); err != nil {
		t.Fatal(err)
	}
	w.RunCLI("message", task.ID, "use less paint")
	done := w.AwaitState(task.ID, fermata.TaskDone)
	worker.Stop()
	if done.Summary != "I use less." {
		t.Errorf("the summary is %q\n%s", done.Summary, w.RunLog(task))
	}
	request, err := w.Room.Model.Await(t.Context(), "told")
	if err != nil {
		t.Fatal(err)
	}
	if items := request.Conversation.Entries; !strings.Contains(items[0].Text+items[1].Text+items[2].Text, "# Paint the fence") {
		t.Errorf("it is another session: %+v", items)
	}
	if got := w.RunGit("show", "fermata/"+task.ID+":fence.txt"); got != "wet" {
		t.Errorf("the branch has %q", got)
	}
}

// testCancel cancels a task while its agent thinks. The worker must end cleanly.
func testCancel(t *testing.T, k kind) {
	w := newWorld(t, k, scriptedmodel.Script{Rules: []scriptedmodel.Rule{{Name: "think", Hold: true, Reply: scriptedmodel.Say("Never said.")}}})
	task := w.CreateTask("Paint the fence", "All of it.")
	worker := w.LaunchWorker("--once")
	if _, err := w.Room.Model.Await(t.Context(), "think"); err != nil {
		t.Fatal(err)
	}
	w.RunCLI("cancel", task.ID)
	if err := worker.Wait(); err != nil {
		t.Fatal(err)
	}
	if state := w.Task(task.ID).State; state != fermata.TaskCancelled {
		t.Errorf("the task is %s", state)
	}
}

// testLeft cancels a task while its agent runs a command. No process of the agent or of
// the command may be left.
func testLeft(t *testing.T, k kind, s shell) {
	k.allow = s.gated
	w := newWorld(t, k, scriptedmodel.Script{Rules: []scriptedmodel.Rule{{Name: "act", Reply: []scriptedmodel.Part{s.call("touch began.txt; sleep 1000")}}}})
	task := w.CreateTask("Paint the fence", "All of it.")
	worker := w.LaunchWorker("--once")
	patience.Await(t, "the command runs", func() bool { return w.exists(task, "began.txt") })
	w.RunCLI("cancel", task.ID)
	if err := worker.Wait(); err != nil {
		t.Fatal(err)
	}
	w.CheckAgentsGone()
}

// remove removes a folder of the room.
func remove(t *testing.T, path ...string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(path...)); err != nil {
		t.Fatal(err)
	}
}

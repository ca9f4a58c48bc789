package agents

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/scriptedmodel"
	"github.com/fermata-hq/fermata/test/agent"
)

var claudeKind = kind{
	name: "claude", env: (*agent.Room).Claude,
	write: func(name, text string) scriptedmodel.Part {
		return scriptedmodel.Call("Write", map[string]any{"file_path": name, "content": text})
	},
}

func TestClaudeWorksMeanwhile(t *testing.T) {
	t.Parallel()
	testMeanwhile(t, claudeKind)
}

func TestCodexWorksMeanwhile(t *testing.T) {
	t.Parallel()
	testMeanwhile(t, codexKind)
}

// scriptBesideAnswer is a script for many tasks. A task with "Ask first" in its title asks, and writes the
// shade from the answer into a file. The task with "Hold on" ends when the test releases it. The
// others end at once.
func scriptBesideAnswer(k kind) scriptedmodel.Script {
	first := 0
	return scriptedmodel.Script{
		Rules: []scriptedmodel.Rule{
			{Name: "paint", When: scriptedmodel.When{Last: "Answered by"}, Capture: `shade-(\d+)`, Reply: []scriptedmodel.Part{k.write("fence.txt", "shade-$1")}},
			{Name: "painted", When: scriptedmodel.When{Any: "Answered by"}, Reply: scriptedmodel.Say("It is painted.")},
			{Name: "ask", When: scriptedmodel.When{Turn: &first, Any: "Ask first"}, Reply: []scriptedmodel.Part{
				{Text: "I will ask."}, scriptedmodel.Call("~ask_user", map[string]any{"question": "Which shade?"}),
			}},
			{Name: "not stopped", When: scriptedmodel.When{Any: "Ask first"}, Hold: true, Reply: scriptedmodel.Say("The run was not stopped.")},
			{Name: "hold", When: scriptedmodel.When{Any: "Hold on"}, Hold: true, Reply: scriptedmodel.Say("That took long.")},
		},
		Fallback: scriptedmodel.Say("Nothing was to be asked."),
	}
}

// tasksMeanwhile is the number of tasks that one worker gets. The task at the index held ends when the test releases it.
const (
	tasksMeanwhile = 12
	held           = 6
)

// testMeanwhile gives one worker with one slot twelve tasks. While three questions wait, it works on others. Then the
// server is killed and started again. The worker continues the answered tasks before it starts new ones. Each
// continues in its own session and with its own answer.
func testMeanwhile(t *testing.T, k kind) {
	w := newWorld(t, k, scriptBesideAnswer(k))
	var all, askers []string
	for i := range tasksMeanwhile {
		title := fmt.Sprintf("Fence %d", i+1)
		switch {
		case i == held:
			title += ". Hold on"
		case i < held && i%2 == 0:
			title += ". Ask first"
		}
		all = append(all, w.CreateTask(title, "").ID)
		if strings.Contains(title, "Ask") {
			askers = append(askers, all[i])
		}
	}
	worker := w.LaunchWorker()
	if _, err := w.Room.Model.Await(t.Context(), "hold"); err != nil {
		t.Fatal(err)
	}
	w.Restart()
	sessions := map[string]string{}
	for i, id := range slices.Backward(askers) {
		waiting := w.Task(id)
		if waiting.State != fermata.TaskAwaitingInput || waiting.Session == nil {
			t.Fatalf("the task %s is %s: %s\n%s", id, waiting.State, waiting.Summary, w.RunLog(waiting))
		}
		sessions[id] = waiting.Session.ID
		w.RunCLI("respond", waiting.PendingQuestionID, fmt.Sprintf("shade-%d", i))
	}
	w.Room.Model.Release("hold")
	for _, id := range all {
		w.AwaitState(id, fermata.TaskDone)
	}
	worker.Stop()
	if got, want := w.claims(), slices.Concat(all[:held+1], askers, all[held+1:]); !slices.Equal(got, want) {
		t.Errorf("tasks were worked on in the order\n%v, want\n%v", got, want)
	}
	for i, id := range askers {
		if s := w.Task(id).Session; s.ID != sessions[id] {
			t.Errorf("the session %s went on as %s", sessions[id], s.ID)
		}
		if got, want := w.RunGit("show", "fermata/"+id+":fence.txt"), fmt.Sprintf("shade-%d", i); got != want {
			t.Errorf("the branch of %s has %q, want %q", id, got, want)
		}
	}
	w.wantTranscripts(len(askers))
}

// claims returns the tasks in the order in which the worker claimed them. It fails the test if a
// run began before the previous one had ended.
func (w *world) claims() []string {
	w.Helper()
	events, _, err := w.Admin.Events(w.Context(), client.EventQuery{
		Types: []fermata.EventType{fermata.EventTaskClaimed, fermata.EventRunFinished}, Limit: 200,
	})
	if err != nil {
		w.Fatal(err)
	}
	var claimed []string
	for i, e := range events {
		if begins := e.Type == fermata.EventTaskClaimed; begins != (i%2 == 0) {
			data, _ := json.Marshal(events)
			w.Fatalf("two runs at the same time: %s", data)
		} else if begins {
			claimed = append(claimed, e.TaskID)
		}
	}
	return claimed
}

// wantTranscripts fails the test unless n sessions continued with their own question and its answer.
func (w *world) wantTranscripts(n int) {
	w.Helper()
	for _, r := range w.Room.Model.Requests() {
		if r.Rule != "paint" {
			continue
		}
		n--
		if c := r.Conversation; len(c.Calls("ask_user")) != 1 || !strings.Contains(c.Text(), "Which shade?") {
			w.Errorf("the transcript lacks the question: %+v", c.Entries)
		}
	}
	if n != 0 {
		w.Errorf("%d sessions were not told their answer once", n)
	}
}

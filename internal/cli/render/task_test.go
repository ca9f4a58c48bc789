package render

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render/rendertest"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

func TestNoTextOfAnAgentReachesTheTerminalRaw(t *testing.T) {
	t.Parallel()
	bad := rendertest.HiddenText
	var out bytes.Buffer
	p := terminal.Printer{Out: &out, Width: 80}
	PrintTask(p, rendertest.HiddenTask(), rendertest.Noon)
	PrintMessages(p, []*fermata.Message{{Author: fermata.Actor{Name: bad}, Body: bad}}, true, rendertest.Noon)
	data, _ := json.Marshal(map[string]string{"title": bad, "body": bad})
	PrintEventLine(p, &fermata.Event{Actor: fermata.Actor{Name: bad}, Data: data})
	rendertest.CheckNothingHides(t, out.String())
}

// A task that no longer blocks is not said to block, and a question of a run is said as a question.
func TestWhatATaskWaitsFor(t *testing.T) {
	t.Parallel()
	known := map[string]*fermata.Task{
		"task_done": {ID: "task_done", State: fermata.TaskDone, Title: "Build"}, "task_open": {ID: "task_open", State: fermata.TaskOpen, Title: "Test"},
		"task_failed": {ID: "task_failed", State: fermata.TaskFailed, Title: "Look"},
		"task_asks":   {ID: "task_asks", State: fermata.TaskAwaitingInput, Title: "nd1: q", EndsWithAnswer: true, PendingQuestion: &fermata.Question{ID: "q_01k5h2m9n0abcd3f9k2a", Title: "w"}},
	}
	ids := []string{"task_done", "task_open", "task_failed", "task_asks", "task_hidden"}
	for state, want := range map[fermata.TaskState]string{
		fermata.TaskBlocked: "Waited for task_done  done  Build\nBlocked by task_open  open  Test\nBlocked by task_failed  failed  Look\n" +
			"Waits for the answer to q_01k5h2m9n0abcd3f9k2a  w\nAnswer it: fermata respond 3f9k2a\nBlocked by task_hidden\n",
		fermata.TaskCancelled: "Waited for task_done  done  Build\nWaited for task_open  open  Test\nWaited for task_failed  failed  Look\n" +
			"Waited for task_asks  awaiting_input  nd1: q\nWaited for task_hidden\n",
	} {
		var out bytes.Buffer
		PrintBlockers(terminal.Printer{Out: &out, Width: 80}, &fermata.Task{ID: "task_waits", State: state, BlockedBy: ids}, known)
		if out.String() != want {
			t.Errorf("%s: it says\n%s", state, out.String())
		}
	}
}

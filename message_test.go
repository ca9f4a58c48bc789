package fermata_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
)

// TestReceiptOf checks that the hand-off state of a message depends on its author and kind, and on the runner and
// state of its task.
func TestReceiptOf(t *testing.T) {
	t.Parallel()
	person := fermata.Actor{Kind: fermata.ActorHuman, Name: "ana"}
	for name, tt := range map[string]struct {
		task fermata.Task
		m    fermata.Message
		want fermata.HandoffState
	}{
		"a comment":                  {fermata.Task{State: fermata.TaskInProgress}, fermata.Message{Author: person, Kind: fermata.MessageComment}, ""},
		"an agent's own words":       {fermata.Task{State: fermata.TaskInProgress}, fermata.Message{Author: fermata.Actor{Kind: fermata.ActorAgent}}, ""},
		"one that was handed":        {fermata.Task{State: fermata.TaskDone}, fermata.Message{Author: person, HandedTo: "run_1"}, fermata.HandoffHanded},
		"one to a run that works":    {fermata.Task{State: fermata.TaskInProgress}, fermata.Message{Author: person}, fermata.HandoffWaits},
		"one before the first run":   {fermata.Task{State: fermata.TaskOpen}, fermata.Message{Author: person}, fermata.HandoffWaits},
		"one to a task that waits":   {fermata.Task{State: fermata.TaskAwaitingInput}, fermata.Message{Author: person}, fermata.HandoffWaits},
		"one to a task that is off":  {fermata.Task{State: fermata.TaskDeferred}, fermata.Message{Author: person}, fermata.HandoffWaits},
		"one to a paused task":       {fermata.Task{State: fermata.TaskDeferred, Reason: fermata.ReasonPaused}, fermata.Message{Author: person}, fermata.HandoffPaused},
		"one to an ended task":       {fermata.Task{State: fermata.TaskFailed}, fermata.Message{Author: person}, fermata.HandoffEnded},
		"one to a program of others": {fermata.Task{State: fermata.TaskAwaitingInput, Runner: fermata.RunnerExternal}, fermata.Message{Author: person}, fermata.HandoffMaker},
		"one to a run of a workflow": {fermata.Task{State: fermata.TaskInProgress, Runner: fermata.RunnerWorkflow}, fermata.Message{Author: person}, fermata.HandoffUnread},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tt.task.HandoffStateOf(&tt.m); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

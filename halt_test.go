package fermata_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

// TestHalt checks that nothing runs for a task that has ended or is paused, or for a run that has ended.
func TestHalt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	task := func(s fermata.TaskState, reason string) *fermata.Task {
		return &fermata.Task{ID: "task_1", State: s, Reason: reason, RunID: "run_2"}
	}
	run := func(id string, s fermata.RunState, lease time.Duration) *fermata.Run {
		return &fermata.Run{ID: id, TaskID: "task_1", State: s, LeaseUntil: now.Add(lease)}
	}
	alive := run("run_2", fermata.RunRunning, time.Minute)
	for _, c := range []struct {
		name  string
		task  *fermata.Task
		runID string
		run   *fermata.Run
		halts bool
	}{
		{"the run holds its task", task(fermata.TaskInProgress, ""), "run_2", alive, false},
		{"no run was named", task(fermata.TaskInProgress, ""), "", alive, false},
		{"there never was a run", task(fermata.TaskOpen, ""), "", nil, false},
		{"done", task(fermata.TaskDone, ""), "run_2", alive, true},
		{"failed", task(fermata.TaskFailed, ""), "", nil, true},
		{"cancelled", task(fermata.TaskCancelled, ""), "", alive, true},
		{"skipped", task(fermata.TaskSkipped, ""), "", nil, true},
		{"paused", task(fermata.TaskDeferred, fermata.ReasonPaused), "", nil, true},
		{"put off, not paused", task(fermata.TaskDeferred, ""), "", nil, false},
		{"an older run", task(fermata.TaskInProgress, ""), "run_1", run("run_1", fermata.RunFinished, time.Minute), true},
		{"a run that is not there", task(fermata.TaskInProgress, ""), "run_9", nil, true},
		{"the lease is over", task(fermata.TaskInProgress, ""), "run_2", run("run_2", fermata.RunRunning, 0), true},
		{"the lease is over and no run was named", task(fermata.TaskInProgress, ""), "", run("run_2", fermata.RunRunning, -1), true},
		{"the run was lost", task(fermata.TaskOpen, ""), "", run("run_2", fermata.RunLost, time.Minute), true},
		{"the run that was named has finished", task(fermata.TaskAwaitingApproval, ""), "run_2", run("run_2", fermata.RunFinished, time.Minute), true},
		{"the last run finished", task(fermata.TaskAwaitingApproval, ""), "", run("run_2", fermata.RunFinished, time.Minute), false},
	} {
		if why := c.task.HaltReason(c.runID, c.run, now); (why != "") != c.halts {
			t.Errorf("%s: halts because %q, want %v", c.name, why, c.halts)
		}
	}
}

// TestAGrantOfATaskThatEndsWithItsAnswer covers the task of a script's question. The task is done with the answer,
// before the script uses the grant.
func TestAGrantOfATaskThatEndsWithItsAnswer(t *testing.T) {
	t.Parallel()
	g := fermata.Grant{TaskID: "task_1"}
	task := &fermata.Task{ID: "task_1", State: fermata.TaskDone, EndsWithAnswer: true}
	if err := g.CheckTask(task, "", nil, time.Now()); err != nil {
		t.Error(err)
	}
	task.State = fermata.TaskCancelled
	if err := g.CheckTask(task, "", nil, time.Now()); fermata.CodeOf(err) != fermata.CodeForbidden {
		t.Errorf("a cancelled one: %v", err)
	}
}

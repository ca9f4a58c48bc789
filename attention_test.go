package fermata_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
)

// TestNews checks that a run has news when people wrote, when it must stop, or when a deadline moved.
func TestNews(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	soon := now.Add(time.Minute)
	run := func(s fermata.RunState, r fermata.Result) fermata.Run {
		return fermata.Run{ID: "run_1", TaskID: "task_1", Token: 1, State: s, Result: r, LeaseUntil: soon}
	}
	task := func(s fermata.TaskState, reason, runID string, unread int) fermata.Task {
		return fermata.Task{ID: "task_1", State: s, Reason: reason, RunID: runID, Unread: unread}
	}
	running := run(fermata.RunRunning, "")
	lapsed := running
	lapsed.LeaseUntil = now
	stopped := run(fermata.RunFinished, "")
	for _, c := range []struct {
		name    string
		watched fermata.WatchedRun
		waits   fermata.AttentionRun
		want    fermata.News
	}{
		{"nothing", fermata.WatchedRun{Run: running, Task: task(fermata.TaskInProgress, "", "run_1", 0)}, fermata.AttentionRun{}, fermata.News{}},
		{"words", fermata.WatchedRun{Run: running, Task: task(fermata.TaskInProgress, "", "run_1", 2)}, fermata.AttentionRun{}, fermata.News{Unread: 2}},
		{"cancelled", fermata.WatchedRun{Run: stopped, Task: task(fermata.TaskCancelled, "", "run_1", 0)}, fermata.AttentionRun{}, fermata.News{Stop: fermata.StopCancelled}},
		{"paused", fermata.WatchedRun{Run: stopped, Task: task(fermata.TaskDeferred, fermata.ReasonPaused, "run_1", 1)}, fermata.AttentionRun{}, fermata.News{Stop: fermata.StopPaused}},
		{"skipped", fermata.WatchedRun{Run: stopped, Task: task(fermata.TaskSkipped, "", "run_1", 0)}, fermata.AttentionRun{}, fermata.News{Stop: fermata.StopEnded}},
		{"cancelled and reopened", fermata.WatchedRun{Run: stopped, Task: task(fermata.TaskOpen, "", "run_1", 0)}, fermata.AttentionRun{}, fermata.News{Stop: fermata.StopLost}},
		{"followed", fermata.WatchedRun{Run: run(fermata.RunLost, ""), Task: task(fermata.TaskInProgress, "", "run_2", 1)}, fermata.AttentionRun{}, fermata.News{Stop: fermata.StopLost}},
		{"the lease is over", fermata.WatchedRun{Run: lapsed, Task: task(fermata.TaskInProgress, "", "run_1", 1)}, fermata.AttentionRun{}, fermata.News{Stop: fermata.StopLost}},
		{"another token", fermata.WatchedRun{Run: running, Task: task(fermata.TaskInProgress, "", "run_1", 1)}, fermata.AttentionRun{Token: 2}, fermata.News{Stop: fermata.StopLost}},
		{"it finished by itself", fermata.WatchedRun{Run: run(fermata.RunFinished, fermata.ResultCompleted), Task: task(fermata.TaskDone, "", "run_1", 0)}, fermata.AttentionRun{}, fermata.News{}},
		{"it handed its task back", fermata.WatchedRun{Run: run(fermata.RunReleased, ""), Task: task(fermata.TaskInputReceived, "", "run_1", 1)}, fermata.AttentionRun{}, fermata.News{}},
		{"words for an agent that takes none", fermata.WatchedRun{Run: running, Task: task(fermata.TaskInProgress, "", "run_1", 2), Deadline: &soon}, fermata.AttentionRun{StopsOnly: true}, fermata.News{}},
		{"paused, as it is known", fermata.WatchedRun{Run: stopped, Task: task(fermata.TaskDeferred, fermata.ReasonPaused, "run_1", 1)}, fermata.AttentionRun{Stop: fermata.StopPaused, StopsOnly: true}, fermata.News{}},
		{"cancelled while it stops for a pause", fermata.WatchedRun{Run: stopped, Task: task(fermata.TaskCancelled, "", "run_1", 0)}, fermata.AttentionRun{Stop: fermata.StopPaused, StopsOnly: true}, fermata.News{Stop: fermata.StopCancelled}},
		{"a new deadline", fermata.WatchedRun{Run: running, Task: task(fermata.TaskInProgress, "", "run_1", 0), Deadline: &soon}, fermata.AttentionRun{Deadline: &now}, fermata.News{Deadline: &soon}},
		{"a known deadline", fermata.WatchedRun{Run: running, Task: task(fermata.TaskInProgress, "", "run_1", 0), Deadline: &soon}, fermata.AttentionRun{Deadline: &soon}, fermata.News{}},
	} {
		c.waits.RunID, c.want.RunID = "run_1", "run_1"
		if c.waits.Token == 0 {
			c.waits.Token = 1
		}
		got, has := c.watched.News(c.waits, now)
		if has != (c.want != fermata.News{RunID: "run_1"}) {
			t.Errorf("%s: has news: %v", c.name, has)
		}
		if diff := cmp.Diff(c.want, got); has && diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

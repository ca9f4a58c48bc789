package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

func TestRemovalsAreSaid(t *testing.T) {
	t.Parallel()
	kept := fermata.Retention{KeepTasks: fermata.Never, KeepLogs: fermata.Never, KeepDeliveries: fermata.Never}
	limited := kept
	limited.KeepLogs = "30d"
	longAgo := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	removed := kept
	removed.KeepTasks, removed.OldestTask, removed.TrimmedTo, removed.RemovedEvents = "30d", &longAgo, 40, 32
	removed.LastRemovalAt, removed.LastRemoval = &longAgo, &fermata.Removal{
		Tasks: []fermata.RemovedTasks{{Project: "a", State: fermata.TaskDone, Count: 2}, {Project: "b", State: fermata.TaskFailed, Count: 1}}, Events: 32, Deliveries: 1,
	}
	for name, c := range map[string]struct {
		r    fermata.Retention
		want []string
	}{
		"all is kept":        {kept, nil},
		"nothing was so far": {limited, []string{"nothing was removed so far: the server looks ten minutes after its start, and then hourly"}},
		"tasks were removed": {removed, []string{
			"the oldest ended task: 2026-01-02; it stays while an open task, a question or a message needs it",
			"32 events removed up to event 40; the rest is still a chain: fermata audit verify",
			"last removed on 2026-01-02: 3 tasks, 32 events, 1 message",
		}},
	} {
		var out bytes.Buffer
		printRemovals(terminal.Printer{Out: &out}, c.r)
		if got := strings.TrimSuffix(out.String(), "\n"); got != strings.Join(c.want, "\n") {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
}

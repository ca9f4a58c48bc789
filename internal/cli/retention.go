package cli

import (
	"context"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type retentionCommand struct{}

func (retentionCommand) Help() string {
	return `The policy says how long things are kept: keep_tasks for tasks after their end, with their questions, messages, runs and events; keep_logs for the logs of runs; keep_deliveries for messages that were sent. Without these, all is kept for ever. Ten minutes after its start and then hourly, the server removes what has been kept longer.

A task stays while a task above, below or behind it is younger or not ended. The chain of events stays verifiable: signed ranges take the place of what was removed. Export the audit first if you must keep it.

Examples:

    fermata retention
    fermata audit export audit.jsonl
    fermata policy set keep_tasks=365d keep_logs=30d keep_deliveries=90d`
}

func (c *retentionCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	r, err := server.Retention(ctx)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.WriteJSON(r)
	}
	t := &terminal.Table{Columns: []terminal.Column{{Head: "WHAT"}, {Head: "KEPT", Flex: true}, {Head: "SETTING"}}}
	t.Add("ended tasks", keptFor(r.KeepTasks), "keep_tasks")
	t.Add("logs of runs", keptFor(r.KeepLogs), "keep_logs")
	t.Add("sent messages", keptFor(r.KeepDeliveries), "keep_deliveries")
	s.PrintTable(t, "")
	printRemovals(s.Stdout(), r)
	return nil
}

// printRemovals prints what was removed, and what comes next.
func printRemovals(out terminal.Printer, r fermata.Retention) {
	if r.OldestTask != nil {
		out.Line("the oldest ended task: %s%s", dayText(*r.OldestTask), whyKept(r))
	}
	if r.TrimmedTo > 0 {
		out.Line("%s removed up to event %d; the rest is still a chain: fermata audit verify", terminal.CountText(r.RemovedEvents, "event"), r.TrimmedTo)
	}
	limited := r.KeepTasks != fermata.Never || r.KeepLogs != fermata.Never || r.KeepDeliveries != fermata.Never
	switch last := r.LastRemoval; {
	case last != nil:
		out.Line("last removed on %s: %s", dayText(*r.LastRemovalAt), removalText(*last))
	case limited:
		out.Line("nothing was removed so far: the server looks ten minutes after its start, and then hourly")
	}
}

// whyKept says why the oldest ended task is still there although the policy keeps tasks for a shorter time.
func whyKept(r fermata.Retention) string {
	limit, ok := fermata.KeepLimit(r.KeepTasks, time.Now())
	if !ok || r.LastRemoval == nil || !r.OldestTask.Before(limit) {
		return ""
	}
	return "; it stays while an open task, a question or a message needs it"
}

// removalText says what was removed. Logs and messages of removed tasks are not counted by themselves.
func removalText(r fermata.Removal) string {
	var parts []string
	for _, part := range []struct {
		n    int64
		noun string
	}{{r.TaskCount(), "task"}, {r.Events, "event"}, {r.Logs, "log"}, {r.Deliveries, "message"}} {
		if part.n > 0 {
			parts = append(parts, terminal.CountText(part.n, part.noun))
		}
	}
	return strings.Join(parts, ", ")
}

func keptFor(t fermata.Timeout) string {
	if t == fermata.Never {
		return "for ever"
	}
	return string(t)
}

func dayText(t time.Time) string { return t.UTC().Format(time.DateOnly) }

package cli

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type retentionCommand struct{}

func (retentionCommand) Help() string {
	return `The policy says how long things are kept: keep_tasks for tasks after their end, with their questions, messages, runs and events; keep_logs for the logs of runs; keep_deliveries for messages that were sent. Without these, all is kept for ever. The server removes hourly what has been kept longer.

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
	out := s.Stdout()
	if r.OldestTask != nil {
		out.Line("the oldest ended task: %s", dayText(*r.OldestTask))
	}
	if r.TrimmedTo > 0 {
		out.Line("%s removed up to event %d; the rest is still a chain: fermata audit verify", terminal.CountText(r.RemovedEvents, "event"), r.TrimmedTo)
	}
	if last := r.LastRemoval; last != nil {
		out.Line("last removed on %s: %s, %s, %s, %s", dayText(*r.LastRemovalAt), terminal.CountText(last.TaskCount(), "task"), terminal.CountText(last.Events, "event"),
			terminal.CountText(last.Logs, "log"), terminal.CountText(last.Deliveries, "message"))
	}
	return nil
}

func keptFor(t fermata.Timeout) string {
	if t == fermata.Never {
		return "for ever"
	}
	return string(t)
}

func dayText(t time.Time) string { return t.UTC().Format(time.DateOnly) }

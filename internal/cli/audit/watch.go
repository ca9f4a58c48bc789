package audit

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// WatchCommand is fermata watch: it prints events as they happen.
type WatchCommand struct {
	Task  string              `placeholder:"ID" help:"Only this task."`
	Type  []fermata.EventType `placeholder:"TYPE" help:"Only these types of events."`
	After int64               `help:"Also what happened after the event with this number."`
}

// Help returns the description and the examples that --help prints.
func (WatchCommand) Help() string {
	return `Examples:

    fermata watch
    fermata watch --task 3f9k2a
    fermata watch --type question.asked --json`
}

// Run runs the command.
func (c *WatchCommand) Run(ctx context.Context, s *session.Session) error {
	q := client.StreamQuery{Types: c.Type, After: c.After}
	if c.Task != "" {
		t, err := s.FindTask(ctx, c.Task)
		if err != nil {
			return err
		}
		q.TaskID = t.ID
	}
	return follow(ctx, s, q)
}

package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

type eventsCommand struct {
	Task   string              `placeholder:"ID" help:"Only this task."`
	Type   []fermata.EventType `placeholder:"TYPE" help:"Only these types of events."`
	After  int64               `help:"Only what came after the event with this number."`
	Limit  int                 `default:"100" help:"At most so many."`
	Follow bool                `short:"f" help:"Go on with what happens from now on."`
	Verify bool                `help:"Check the whole chain instead, as audit verify does."`
}

func (eventsCommand) Help() string {
	return `With --json every event is a document on a line of its own.

Examples:

    fermata events --task 3f9k2a
    fermata events --after 1200 --json
    fermata events --follow
    fermata events --verify`
}

func (c *eventsCommand) Run(ctx context.Context, s *session) error {
	if c.Verify {
		return s.verifyAudit(ctx)
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	q := client.EventQuery{After: c.After, Types: c.Type}
	if c.Task != "" {
		t, err := s.findTask(ctx, c.Task)
		if err != nil {
			return err
		}
		q.TaskID = t.ID
	}
	if c.Follow {
		return s.follow(ctx, client.StreamQuery{TaskID: q.TaskID, Types: c.Type, After: c.After, FromStart: true})
	}
	return eachEvent(ctx, server, q, c.Limit, s.printEvent)
}

// eachEvent calls on for the events of all pages, in order, up to limit; 0 is
// no limit.
func eachEvent(ctx context.Context, server *client.Client, q client.EventQuery, limit int, on func(*fermata.Event) error) error {
	for n := 0; ; {
		q.Limit = longestPage
		if limit > 0 {
			q.Limit = min(limit-n, longestPage)
		}
		list, next, err := server.Events(ctx, q)
		if err != nil {
			return err
		}
		for _, e := range list {
			if err := on(e); err != nil {
				return err
			}
		}
		n += len(list)
		if len(list) == 0 || next <= q.After || limit > 0 && n >= limit {
			return nil
		}
		q.After = next
	}
}

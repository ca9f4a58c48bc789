package cli

import (
	"cmp"
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

type eventsCommand struct {
	Task   string              `placeholder:"ID" help:"Only this task."`
	Type   []fermata.EventType `placeholder:"TYPE" help:"Only these types of events."`
	After  int64               `help:"Only what came after the event with this number."`
	Limit  quantity            `xor:"follow" help:"At most so many (default: 100)."`
	Follow bool                `short:"f" xor:"follow" help:"Go on with what happens from now on."`
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
		err := checkUnreadFlags("--verify", map[string]bool{
			"--task": c.Task != "", "--type": len(c.Type) > 0, "--after": c.After != 0, "--limit": c.Limit != 0, "--follow": c.Follow,
		})
		if err != nil {
			return err
		}
		return s.verifyOnServer(ctx)
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
	return eachEvent(ctx, server, q, int(cmp.Or(c.Limit, 100)), s.printEvent, s.printMoreEventsHint)
}

// printMoreEventsHint prints on standard error that more events follow the one with the number.
func (s *session) printMoreEventsHint(last int64) {
	s.stderr().line("there are more after event %d: --after %d shows the next ones, --limit how many", last, last)
}

// eachEvent calls onEvent for each event of all pages, in order. A limit other than 0 bounds their number. If events
// follow the last one, eachEvent then calls onMore with its number.
func eachEvent(ctx context.Context, server *client.Client, q client.EventQuery, limit int, onEvent func(*fermata.Event) error, onMore func(last int64)) error {
	for n := 0; ; {
		q.Limit = maxPageSize
		if limit > 0 {
			q.Limit = min(limit-n, maxPageSize)
		}
		list, next, err := server.Events(ctx, q)
		if err != nil {
			return err
		}
		for _, e := range list {
			if err := onEvent(e); err != nil {
				return err
			}
		}
		n += len(list)
		if len(list) == 0 || next <= q.After {
			return nil
		}
		q.After = next
		if limit > 0 && n >= limit {
			q.Limit = 1
			if list, _, err = server.Events(ctx, q); len(list) > 0 {
				onMore(next)
			}
			return err
		}
	}
}

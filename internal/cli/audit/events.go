package audit

import (
	"cmp"
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// EventsCommand is fermata events: it lists events, follows them or verifies their chain.
type EventsCommand struct {
	Task   string              `placeholder:"ID" help:"Only this task."`
	Type   []fermata.EventType `placeholder:"TYPE" help:"Only these types of events."`
	After  int64               `help:"Only what came after the event with this number."`
	Limit  session.Quantity    `xor:"follow" help:"At most so many (default: 100)."`
	Follow bool                `short:"f" xor:"follow" help:"Go on with what happens from now on."`
	Verify bool                `help:"Check the whole chain instead, as audit verify does."`
}

// Help returns the description and the examples that --help prints.
func (EventsCommand) Help() string {
	return `With --json every event is a document on a line of its own.

Examples:

    fermata events --task 3f9k2a
    fermata events --after 1200 --json
    fermata events --follow
    fermata events --verify`
}

// Run runs the command.
func (c *EventsCommand) Run(ctx context.Context, s *session.Session) error {
	if c.Verify {
		err := session.CheckUnreadFlags("--verify", map[string]bool{
			"--task": c.Task != "", "--type": len(c.Type) > 0, "--after": c.After != 0, "--limit": c.Limit != 0, "--follow": c.Follow,
		})
		if err != nil {
			return err
		}
		return verifyOnServer(ctx, s)
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	q := client.EventQuery{After: c.After, Types: c.Type}
	if c.Task != "" {
		t, err := s.FindTask(ctx, c.Task)
		if err != nil {
			return err
		}
		q.TaskID = t.ID
	}
	if c.Follow {
		return follow(ctx, s, client.StreamQuery{TaskID: q.TaskID, Types: c.Type, After: c.After, FromStart: true})
	}
	return session.EachEvent(ctx, server, q, int(cmp.Or(c.Limit, 100)), eventPrinter(s), func(last int64) {
		s.Stderr().Line("there are more after event %d: --after %d shows the next ones, --limit how many", last, last)
	})
}

// follow prints new events until the context ends.
func follow(ctx context.Context, s *session.Session, q client.StreamQuery) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	q.OnDrop = func(error) { s.Stderr().Line("the connection broke; connecting again") }
	q.OnReset = func() { s.Stderr().Line("events were missed: the server keeps them no longer") }
	return server.Stream(ctx, q, eventPrinter(s))
}

// eventPrinter returns a function that prints each event: as JSON on one line, or as a line for people.
func eventPrinter(s *session.Session) func(*fermata.Event) error {
	return func(e *fermata.Event) error {
		if s.JSON {
			return s.WriteJSONLine(e)
		}
		render.PrintEventLine(s.Stdout(), e)
		return nil
	}
}

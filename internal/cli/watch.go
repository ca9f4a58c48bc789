package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

type watchCommand struct {
	Task  string              `placeholder:"ID" help:"Only this task."`
	Type  []fermata.EventType `placeholder:"TYPE" help:"Only these types of events."`
	After int64               `help:"Also what happened after the event with this number."`
}

func (watchCommand) Help() string {
	return `Examples:

    fermata watch
    fermata watch --task 3f9k2a
    fermata watch --type question.asked --json`
}

func (c *watchCommand) Run(ctx context.Context, s *session) error {
	q := client.StreamQuery{Types: c.Type, After: c.After}
	if c.Task != "" {
		t, err := s.findTask(ctx, c.Task)
		if err != nil {
			return err
		}
		q.TaskID = t.ID
	}
	return s.follow(ctx, q)
}

// findTask returns the task with the id, or the task that asks the question
// with the id.
func (s *session) findTask(ctx context.Context, id string) (*fermata.Task, error) {
	t, q, err := s.find(ctx, id)
	if err != nil || t != nil {
		return t, err
	}
	return s.client.Task(ctx, q.TaskID)
}

// follow prints new events until the context ends.
func (s *session) follow(ctx context.Context, q client.StreamQuery) error {
	server, err := s.server()
	if err != nil {
		return err
	}
	q.OnDrop = func(error) { s.stderr().line("the connection broke; connecting again") }
	q.OnReset = func() { s.stderr().line("events were missed: the server keeps them no longer") }
	return server.Stream(ctx, q, s.printEvent)
}

func (s *session) printEvent(e *fermata.Event) error {
	if s.JSON {
		return s.writeJSONLine(e)
	}
	s.stdout().printEventLine(e)
	return nil
}

package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
)

type deferCommand struct {
	write
	ID    string `arg:"" help:"The task."`
	Until string `arg:"" optional:"" help:"2h, 3d, a date or an instant; without it, until someone resumes it."`
}

func (deferCommand) Help() string {
	return `Examples:

    fermata defer 3f9k2a 2h
    fermata defer 3f9k2a 2027-01-31`
}

func (c *deferCommand) Run(ctx context.Context, s *session) error {
	until, err := s.parseInstant(c.Until)
	if err != nil {
		return err
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	body := map[string]any{}
	if until != nil {
		body["until"] = until
	}
	return s.sendTaskChange(ctx, taskChange{write: c.write, id: c.ID, verb: "defer", body: body, send: func(ctx context.Context, id string) (*fermata.Task, error) {
		return server.DeferTask(ctx, id, until)
	}})
}

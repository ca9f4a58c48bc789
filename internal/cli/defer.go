package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

type deferCommand struct {
	session.WriteFlags
	ID    string `arg:"" help:"The task."`
	Until string `arg:"" optional:"" help:"2h, 3d, a date or an instant; without it, until someone resumes it."`
}

func (deferCommand) Help() string {
	return `Examples:

    fermata defer 3f9k2a 2h
    fermata defer 3f9k2a 2027-01-31`
}

func (c *deferCommand) Run(ctx context.Context, s *session.Session) error {
	until, err := s.ParseInstant(c.Until)
	if err != nil {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	body := map[string]any{}
	if until != nil {
		body["until"] = until
	}
	return s.SendTaskChange(ctx, session.TaskChange{Flags: c.WriteFlags, ID: c.ID, Verb: "defer", Body: body, Send: func(ctx context.Context, id string) (*fermata.Task, error) {
		return server.DeferTask(ctx, id, until)
	}})
}

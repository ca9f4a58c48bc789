package cli

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
)

type snoozeCommand struct {
	write
	ID   string          `arg:"" help:"The question, or the task that waits for it."`
	For  fermata.Timeout `arg:"" optional:"" help:"For how long: 30m, 2h, 3d."`
	Wake bool            `help:"Show it again."`
}

func (snoozeCommand) Help() string {
	return `The question leaves your own inbox for a while, and nobody else's. It must
come back before its deadline.

Examples:

    fermata snooze 3f9k2a 30m
    fermata snooze 3f9k2a --wake`
}

func (c *snoozeCommand) Run(ctx context.Context, s *session) error {
	if (c.For == "") != c.Wake {
		return fermata.Errorf(fermata.CodeInvalidRequest, "say for how long, or --wake")
	}
	q, err := s.findQuestion(ctx, c.ID)
	if err != nil {
		return err
	}
	put := fermata.Snooze{For: c.For}
	if done, err := s.rehearse(c.write, "POST", "/questions/"+q.ID+"/snooze", put); done {
		return err
	}
	if q, err = s.client.Snooze(ctx, q.ID, put); err != nil {
		return err
	}
	if q.SnoozedUntil == nil {
		s.wrote(q.WorkspaceID, "%s is in your inbox", q.ID)
	} else {
		s.wrote(q.WorkspaceID, "%s is out of your inbox until %s", q.ID, q.SnoozedUntil.UTC().Format(time.RFC3339))
	}
	if s.JSON {
		return s.json(q)
	}
	return nil
}

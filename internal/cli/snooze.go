package cli

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

type snoozeCommand struct {
	session.WriteFlags
	ID    string          `arg:"" help:"The question, or the task that waits for it."`
	For   fermata.Timeout `arg:"" optional:"" help:"For how long: 30m, 2h, 3d."`
	Until string          `placeholder:"WHEN" help:"Until when: a date or an instant."`
	Wake  bool            `help:"Show it again."`
}

func (snoozeCommand) Help() string {
	return `The question leaves your own inbox for a while, and nobody else's. It must
come back before its deadline.

Examples:

    fermata snooze 3f9k2a 30m
    fermata snooze 3f9k2a --until 2027-02-01
    fermata snooze 3f9k2a --wake`
}

func (c *snoozeCommand) Run(ctx context.Context, s *session.Session) error {
	count := 0
	for _, one := range []bool{c.For != "", c.Until != "", c.Wake} {
		if one {
			count++
		}
	}
	if count != 1 {
		return fermata.Errorf(fermata.CodeInvalidRequest, "say for how long, or --until, or --wake")
	}
	until, err := s.ParseInstant(c.Until)
	if err != nil {
		return err
	}
	q, err := s.FindQuestion(ctx, c.ID)
	if err != nil {
		return err
	}
	snooze := fermata.Snooze{For: c.For, Until: until}
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/questions/"+q.ID+"/snooze", snooze); done {
		return err
	}
	if q, err = s.Client.Snooze(ctx, q.ID, snooze); err != nil {
		return err
	}
	if q.SnoozedUntil == nil {
		s.PrintDone(q.WorkspaceID, "%s is in your inbox", q.ID)
	} else {
		s.PrintDone(q.WorkspaceID, "%s is out of your inbox until %s", q.ID, q.SnoozedUntil.UTC().Format(time.RFC3339))
	}
	if s.JSON {
		return s.WriteJSON(q)
	}
	return nil
}

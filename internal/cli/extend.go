package cli

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

type extendCommand struct {
	session.WriteFlags
	ID string          `arg:"" help:"The question, or the task that waits for it."`
	By fermata.Timeout `arg:"" help:"How much longer: 30m, 2h, 3d."`
}

func (extendCommand) Help() string {
	return `Everybody who may answer a question can put its deadline off, within the policy.

Examples:

    fermata extend 3f9k2a 30m`
}

func (c *extendCommand) Run(ctx context.Context, s *session.Session) error {
	q, err := s.FindQuestion(ctx, c.ID)
	if err != nil {
		return err
	}
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/questions/"+q.ID+"/extend", map[string]fermata.Timeout{"by": c.By}); done {
		return err
	}
	if q, err = s.Client.Extend(ctx, q.ID, c.By); err != nil {
		return err
	}
	until := "somebody answers"
	if q.Deadline != nil {
		until = q.Deadline.UTC().Format(time.RFC3339)
	}
	s.PrintDone(q.WorkspaceID, "%s waits until %s", q.ID, until)
	if s.JSON {
		return s.WriteJSON(q)
	}
	return nil
}

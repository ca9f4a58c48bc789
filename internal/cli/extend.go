package cli

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
)

type extendCommand struct {
	write
	ID string          `arg:"" help:"The question, or the task that waits for it."`
	By fermata.Timeout `arg:"" help:"How much longer: 30m, 2h, 3d."`
}

func (extendCommand) Help() string {
	return `Whoever may answer a question can put its deadline off, within the policy.

Examples:

    fermata extend 3f9k2a 30m`
}

func (c *extendCommand) Run(ctx context.Context, s *session) error {
	q, err := s.findQuestion(ctx, c.ID)
	if err != nil {
		return err
	}
	if done, err := s.printDryRun(c.write, "POST", "/questions/"+q.ID+"/extend", map[string]fermata.Timeout{"by": c.By}); done {
		return err
	}
	if q, err = s.client.Extend(ctx, q.ID, c.By); err != nil {
		return err
	}
	until := "somebody answers"
	if q.Deadline != nil {
		until = q.Deadline.UTC().Format(time.RFC3339)
	}
	s.printDone(q.WorkspaceID, "%s waits until %s", q.ID, until)
	if s.JSON {
		return s.writeJSON(q)
	}
	return nil
}

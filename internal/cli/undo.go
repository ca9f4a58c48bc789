package cli

import (
	"context"
)

type undoCommand struct {
	write
	ID string `arg:"" help:"The question, or the task that waits for it."`
}

func (undoCommand) Help() string {
	return `An answer that was given with --undo is held for some seconds. Until it
counts, its author can take it back.

Examples:

    fermata respond 3f9k2a toml --undo
    fermata undo 3f9k2a`
}

func (c *undoCommand) Run(ctx context.Context, s *session) error {
	q, err := s.findQuestion(ctx, c.ID)
	if err != nil {
		return err
	}
	if done, err := s.printDryRun(c.write, "POST", "/questions/"+q.ID+"/undo", struct{}{}); done {
		return err
	}
	if q, err = s.client.Undo(ctx, q.ID); err != nil {
		return err
	}
	s.printDone(q.WorkspaceID, "took your answer to %s back; it waits again", q.ID)
	if s.JSON {
		return s.writeJSON(q)
	}
	return nil
}

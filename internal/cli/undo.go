package cli

import (
	"context"

	"github.com/fermata-hq/fermata/internal/cli/session"
)

type undoCommand struct {
	session.WriteFlags
	ID string `arg:"" help:"The question, or the task that waits for it."`
}

func (undoCommand) Help() string {
	return `An answer that was given with --undo is held for some seconds. Until it
counts, its author can take it back.

Examples:

    fermata respond 3f9k2a toml --undo
    fermata undo 3f9k2a`
}

func (c *undoCommand) Run(ctx context.Context, s *session.Session) error {
	q, err := s.FindQuestion(ctx, c.ID)
	if err != nil {
		return err
	}
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/questions/"+q.ID+"/undo", struct{}{}); done {
		return err
	}
	if q, err = s.Client.Undo(ctx, q.ID); err != nil {
		return err
	}
	s.PrintDone(q.WorkspaceID, "took your answer to %s back; it waits again", q.ID)
	if s.JSON {
		return s.WriteJSON(q)
	}
	return nil
}

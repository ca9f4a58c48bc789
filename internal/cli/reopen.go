package cli

import (
	"context"

	"github.com/fermata-hq/fermata/internal/cli/session"
)

type reopenCommand struct {
	session.WriteFlags
	ID string `arg:"" help:"A task that has ended."`
}

func (reopenCommand) Help() string {
	return `Examples:

    fermata reopen 3f9k2a`
}

func (c *reopenCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	return s.SendTaskChange(ctx, session.TaskChange{Flags: c.WriteFlags, ID: c.ID, Verb: "reopen", Send: server.ReopenTask})
}

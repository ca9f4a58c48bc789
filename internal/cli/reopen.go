package cli

import "context"

type reopenCommand struct {
	write
	ID string `arg:"" help:"A task that has ended."`
}

func (reopenCommand) Help() string {
	return `Examples:

    fermata reopen 3f9k2a`
}

func (c *reopenCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
	if err != nil {
		return err
	}
	return s.sendTaskChange(ctx, taskChange{write: c.write, id: c.ID, verb: "reopen", send: server.ReopenTask})
}

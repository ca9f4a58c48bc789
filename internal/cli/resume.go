package cli

import "context"

type resumeCommand struct {
	write
	ID string `arg:"" help:"A task that waits, is blocked or was put off."`
}

func (resumeCommand) Help() string {
	return `Examples:

    fermata resume 3f9k2a`
}

func (c *resumeCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
	if err != nil {
		return err
	}
	return s.move(ctx, change{c.write, c.ID, "resume", nil, server.ResumeTask})
}

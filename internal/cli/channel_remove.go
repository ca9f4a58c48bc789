package cli

import (
	"context"
)

type channelRemoveCommand struct {
	write
	Name string `arg:"" help:"Name of the channel."`
}

func (channelRemoveCommand) Help() string {
	return `What was sent over it stays on record.

Examples:

    fermata channel remove audit`
}

func (c *channelRemoveCommand) Run(ctx context.Context, s *session) error {
	if done, err := s.rehearse(c.write, "DELETE", "/channels/"+c.Name, nil); done {
		return err
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	if err := server.RemoveChannel(ctx, c.Name); err != nil {
		return err
	}
	s.wrote("", "removed the channel %s", oneLine(c.Name))
	return nil
}

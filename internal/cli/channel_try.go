package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
)

type channelTestCommand struct {
	Name string `arg:"" help:"Name of the channel."`
	To   string `placeholder:"HANDLE" help:"Send a test message to this person."`
}

func (channelTestCommand) Help() string {
	return `It asks the remote system whether the settings work, and says what to do where they do not.

Examples:

    fermata channel test slack
    fermata channel test email --to anna`
}

func (c *channelTestCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
	if err != nil {
		return err
	}
	result, err := server.TestChannel(ctx, c.Name, c.To)
	if err != nil {
		return err
	}
	if s.JSON {
		if err := s.writeJSON(result); err != nil {
			return err
		}
	}
	for _, p := range result.Problems {
		s.stderr().line("%s", oneLine(p.Message))
		if p.Hint != "" {
			s.stderr().line("  %s", oneLine(p.Hint))
		}
	}
	if !result.OK {
		return fermata.Errorf(fermata.CodeUnavailable, "the channel %s does not work", c.Name)
	}
	s.printDone("", "the channel %s works", oneLine(c.Name))
	if result.DeliveryID != "" {
		s.printDone("", "a test message is on its way: fermata deliveries show %s", shortID(result.DeliveryID))
	}
	return nil
}

package channel

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type tryCommand struct {
	Name string `arg:"" help:"Name of the channel."`
	To   string `placeholder:"HANDLE" help:"Send a test message to this person."`
}

func (tryCommand) Help() string {
	return `It asks the remote system whether the settings work, and says what to do where they do not.

Examples:

    fermata channel test slack
    fermata channel test email --to anna`
}

func (c *tryCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	result, err := server.TestChannel(ctx, c.Name, c.To)
	if err != nil {
		return err
	}
	if s.JSON {
		if err := s.WriteJSON(result); err != nil {
			return err
		}
	}
	for _, p := range result.Problems {
		s.Stderr().Line("%s", terminal.OneLine(p.Message))
		if p.Hint != "" {
			s.Stderr().Line("  %s", terminal.OneLine(p.Hint))
		}
	}
	if !result.OK {
		return fermata.Errorf(fermata.CodeUnavailable, "the channel %s does not work", c.Name)
	}
	s.PrintDone("", "the channel %s works", terminal.OneLine(c.Name))
	if result.DeliveryID != "" {
		s.PrintDone("", "a test message is on its way: fermata deliveries show %s", terminal.ShortID(result.DeliveryID))
	}
	return nil
}

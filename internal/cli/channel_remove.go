package cli

import (
	"context"
	"strings"
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
	if done, err := s.printDryRun(c.write, "DELETE", "/channels/"+c.Name, nil); done {
		return err
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	removed, err := server.RemoveChannel(ctx, c.Name)
	if err != nil {
		return err
	}
	s.printDone("", "removed the channel %s", oneLine(c.Name))
	s.warnRoutes(removed.UnmatchedRouteSteps)
	return nil
}

// warnRoutes lists the steps of routes that lead nowhere.
func (s *session) warnRoutes(steps []string) {
	if len(steps) > 0 {
		s.stderr().line("these steps of routes lead nowhere now: %s; change them: fermata channel routes", strings.Join(steps, ", "))
	}
}

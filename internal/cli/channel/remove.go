package channel

import (
	"context"
	"strings"

	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type removeCommand struct {
	session.WriteFlags
	Name string `arg:"" help:"Name of the channel."`
}

func (removeCommand) Help() string {
	return `What was sent over it stays on record.

Examples:

    fermata channel remove audit`
}

func (c *removeCommand) Run(ctx context.Context, s *session.Session) error {
	if done, err := s.PrintDryRun(c.WriteFlags, "DELETE", "/channels/"+c.Name, nil); done {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	removed, err := server.RemoveChannel(ctx, c.Name)
	if err != nil {
		return err
	}
	s.PrintDone("", "removed the channel %s", terminal.OneLine(c.Name))
	warnRoutes(s, removed.UnmatchedRouteSteps)
	return nil
}

// warnRoutes lists the steps of routes that lead nowhere.
func warnRoutes(s *session.Session, steps []string) {
	if len(steps) > 0 {
		s.Stderr().Line("these steps of routes lead nowhere now: %s; change them: fermata channel routes", strings.Join(steps, ", "))
	}
}

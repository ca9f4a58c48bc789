package channel

import (
	"context"
	"strings"

	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type showCommand struct {
	Name string `arg:"" help:"Name of the channel."`
}

func (showCommand) Help() string {
	return `Examples:

    fermata channel show slack`
}

func (c *showCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	found, err := server.Channel(ctx, c.Name)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.WriteJSON(found)
	}
	p := s.Stdout()
	p.Line("%s (%s), %s", terminal.OneLine(found.Name), terminal.OneLine(found.Kind), channelState(found))
	printGeneratedSettings(s, found, nil)
	if len(found.SecretsSet) > 0 {
		p.Line("secrets that are set: %s", strings.Join(found.SecretsSet, ", "))
	}
	if found.LastError != "" {
		p.Line("last error: %s", terminal.OneLine(found.LastError))
	}
	return nil
}

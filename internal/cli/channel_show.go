package cli

import (
	"context"
	"strings"
)

type channelShowCommand struct {
	Name string `arg:"" help:"Name of the channel."`
}

func (channelShowCommand) Help() string {
	return `Examples:

    fermata channel show slack`
}

func (c *channelShowCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
	if err != nil {
		return err
	}
	found, err := server.Channel(ctx, c.Name)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.writeJSON(found)
	}
	p := s.stdout()
	p.line("%s (%s), %s", oneLine(found.Name), oneLine(found.Kind), channelState(found))
	s.printGeneratedSettings(found, nil)
	if len(found.SecretsSet) > 0 {
		p.line("secrets that are set: %s", strings.Join(found.SecretsSet, ", "))
	}
	if found.LastError != "" {
		p.line("last error: %s", oneLine(found.LastError))
	}
	return nil
}

package channel

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type listCommand struct{}

func (listCommand) Help() string {
	return `Examples:

    fermata channel list`
}

func (c *listCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	all, err := server.Channels(ctx)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.WriteJSON(all)
	}
	t := &terminal.Table{Columns: []terminal.Column{{Head: "NAME"}, {Head: "KIND"}, {Head: "STATE"}, {Head: "LAST SENT"}, {Head: "LAST ERROR", Flex: true}}}
	for _, channel := range all {
		sent := ""
		if channel.LastSentAt != nil {
			sent = s.AgoText(*channel.LastSentAt)
		}
		t.Add(channel.Name, channel.Kind, channelState(channel), sent, channel.LastError)
	}
	s.PrintTable(t, "there are no channels; fermata channel add makes one")
	return nil
}

func channelState(c *fermata.Channel) string {
	switch {
	case !c.Enabled:
		return "disabled"
	case c.LastError != "":
		return "failing"
	default:
		return "enabled"
	}
}

package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
)

type channelListCommand struct{}

func (channelListCommand) Help() string {
	return `Examples:

    fermata channel list`
}

func (c *channelListCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
	if err != nil {
		return err
	}
	all, err := server.Channels(ctx)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.writeJSON(all)
	}
	t := &table{columns: []column{{head: "NAME"}, {head: "KIND"}, {head: "STATE"}, {head: "LAST SENT"}, {head: "LAST ERROR", flex: true}}}
	for _, channel := range all {
		sent := ""
		if channel.LastSentAt != nil {
			sent = s.agoText(*channel.LastSentAt)
		}
		t.add(channel.Name, channel.Kind, channelState(channel), sent, channel.LastError)
	}
	s.printTable(t, "there are no channels; fermata channel add makes one")
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

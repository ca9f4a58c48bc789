package channel

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type kindsCommand struct{}

func (kindsCommand) Help() string {
	return `Examples:

    fermata channel kinds`
}

func (c *kindsCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	all, err := server.ChannelKinds(ctx)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.WriteJSON(all)
	}
	t := &terminal.Table{Columns: []terminal.Column{{Head: "KIND"}, {Head: "SETTING"}, {Head: "", Flex: true}}}
	for _, k := range all {
		var schema channelSchema
		if err := json.Unmarshal(k.Schema, &schema); err != nil {
			return err
		}
		var names []string
		for name := range schema.Properties {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			what := schema.Properties[name].Description
			if slices.Contains(k.Secrets, name) {
				what = "secret; " + what
			}
			if slices.Contains(schema.Required, name) {
				what = "required; " + what
			}
			t.Add(k.Kind, name, what)
		}
	}
	s.PrintTable(t, "there are no kinds of channels")
	return nil
}

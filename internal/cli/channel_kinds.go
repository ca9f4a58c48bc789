package cli

import (
	"context"
	"encoding/json"
	"slices"
)

type channelKindsCommand struct{}

func (channelKindsCommand) Help() string {
	return `Examples:

    fermata channel kinds`
}

func (c *channelKindsCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
	if err != nil {
		return err
	}
	all, err := server.ChannelKinds(ctx)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.writeJSON(all)
	}
	t := &table{columns: []column{{head: "KIND"}, {head: "SETTING"}, {head: "", flex: true}}}
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
			t.add(k.Kind, name, what)
		}
	}
	s.printTable(t, "there are no kinds of channels")
	return nil
}

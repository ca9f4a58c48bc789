package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

type channelSetCommand struct {
	write
	Name string `arg:"" help:"Name of the channel."`
	settingFlags
	Unset  []string `placeholder:"NAME" help:"Take a setting away; repeat it."`
	Rename string   `placeholder:"NAME" help:"Give the channel another name."`
}

func (channelSetCommand) Help() string {
	return `What is not named stays as it is.

Examples:

    fermata channel set audit 'events=["*"]'
    fermata channel set audit secret=generate
    fermata channel set slack --unset app_token
    fermata channel set slack --rename team`
}

func (c *channelSetCommand) Run(ctx context.Context, s *session) error {
	settings, err := c.settings(s)
	if err != nil {
		return err
	}
	for _, name := range c.Unset {
		if _, set := settings[name]; set {
			return fermata.Errorf(fermata.CodeInvalidRequest, "%s is set and taken away with --unset", name).WithHint("leave one of them out")
		}
		settings[name] = nil
	}
	kind := func(server *client.Client) (string, error) {
		found, err := server.Channel(ctx, c.Name)
		if err != nil {
			return "", err
		}
		return found.Kind, nil
	}
	if err := s.convertNumbers(ctx, kind, settings); err != nil {
		return err
	}
	ch := fermata.ChannelChange{Settings: settings}
	if c.Rename != "" {
		ch.Name = &c.Rename
	}
	return s.changeChannel(ctx, c.write, c.Name, ch, settings)
}

// changeChannel changes a channel and prints the settings that the server
// generated for it.
func (s *session) changeChannel(ctx context.Context, w write, name string, ch fermata.ChannelChange, given map[string]any) error {
	if done, err := s.printDryRun(w, "PATCH", "/channels/"+name, ch); done {
		return err
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	before, err := server.Channel(ctx, name)
	if err != nil {
		return err
	}
	changed, err := server.ChangeChannel(ctx, name, ch)
	if err != nil {
		return err
	}
	s.printDone(changed.WorkspaceID, "changed the channel %s; it is %s", oneLine(changed.Name), channelState(changed))
	s.warnRoutes(changed.UnmatchedRouteSteps)
	if s.JSON {
		return s.writeJSON(changed)
	}
	known := fermata.MergeSettings(before.Settings, given)
	s.printGeneratedSettings(changed, known)
	return nil
}

type channelEnableCommand struct {
	write
	Name string `arg:"" help:"Name of the channel."`
}

func (channelEnableCommand) Help() string {
	return `Examples:

    fermata channel enable slack`
}

func (c *channelEnableCommand) Run(ctx context.Context, s *session) error {
	on := true
	return s.changeChannel(ctx, c.write, c.Name, fermata.ChannelChange{Enabled: &on}, nil)
}

type channelDisableCommand struct {
	write
	Name string `arg:"" help:"Name of the channel."`
}

func (channelDisableCommand) Help() string {
	return `What waits to be sent over it is skipped.

Examples:

    fermata channel disable slack`
}

func (c *channelDisableCommand) Run(ctx context.Context, s *session) error {
	on := false
	return s.changeChannel(ctx, c.write, c.Name, fermata.ChannelChange{Enabled: &on}, nil)
}

package channel

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type setCommand struct {
	session.WriteFlags
	Name string `arg:"" help:"Name of the channel."`
	settingArgs
	Unset  []string `placeholder:"NAME" help:"Take a setting away; repeat it."`
	Rename string   `placeholder:"NAME" help:"Give the channel another name."`
}

func (setCommand) Help() string {
	return `What is not named stays as it is.

Examples:

    fermata channel set audit 'events=["*"]'
    fermata channel set audit secret=generate
    fermata channel set slack --unset app_token
    fermata channel set slack --rename team`
}

func (c *setCommand) Run(ctx context.Context, s *session.Session) error {
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
	if err := convertNumbers(ctx, s, kind, settings); err != nil {
		return err
	}
	ch := fermata.ChannelChange{Settings: settings}
	if c.Rename != "" {
		ch.Name = &c.Rename
	}
	return changeChannel(ctx, s, c.WriteFlags, c.Name, ch, settings)
}

// changeChannel changes a channel and prints the settings that the server
// generated for it.
func changeChannel(ctx context.Context, s *session.Session, w session.WriteFlags, name string, ch fermata.ChannelChange, given map[string]any) error {
	if done, err := s.PrintDryRun(w, "PATCH", "/channels/"+name, ch); done {
		return err
	}
	server, err := s.Server()
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
	s.PrintDone(changed.WorkspaceID, "changed the channel %s; it is %s", terminal.OneLine(changed.Name), channelState(changed))
	warnRoutes(s, changed.UnmatchedRouteSteps)
	if s.JSON {
		return s.WriteJSON(changed)
	}
	known := fermata.MergeSettings(before.Settings, given)
	printGeneratedSettings(s, changed, known)
	return nil
}

type enableCommand struct {
	session.WriteFlags
	Name string `arg:"" help:"Name of the channel."`
}

func (enableCommand) Help() string {
	return `Examples:

    fermata channel enable slack`
}

func (c *enableCommand) Run(ctx context.Context, s *session.Session) error {
	on := true
	return changeChannel(ctx, s, c.WriteFlags, c.Name, fermata.ChannelChange{Enabled: &on}, nil)
}

type disableCommand struct {
	session.WriteFlags
	Name string `arg:"" help:"Name of the channel."`
}

func (disableCommand) Help() string {
	return `What waits to be sent over it is skipped.

Examples:

    fermata channel disable slack`
}

func (c *disableCommand) Run(ctx context.Context, s *session.Session) error {
	on := false
	return changeChannel(ctx, s, c.WriteFlags, c.Name, fermata.ChannelChange{Enabled: &on}, nil)
}

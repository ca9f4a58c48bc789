package channel

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type addCommand struct {
	session.WriteFlags
	Kind string `arg:"" help:"Kind of channel: slack, email, github, webhook, notify …"`
	Name string `arg:"" help:"Name of the channel; what routes and questions name."`
	settingArgs
	Disabled bool `help:"Add it, but do not use it yet."`
}

func (addCommand) Help() string {
	return `What a kind needs: fermata channel kinds

Examples:

    fermata channel add slack slack bot_token=env:SLACK_BOT_TOKEN app_token=env:SLACK_APP_TOKEN conversation=C0123456789
    fermata channel add github github token=env:GITHUB_TOKEN repository=octo/hello issue=7
    fermata channel add webhook audit url=https://example.com/hook 'events=["question.asked"]'
    fermata channel add notify phone url=file:/run/secrets/ntfy`
}

func (c *addCommand) Run(ctx context.Context, s *session.Session) error {
	settings, err := c.settings(s)
	if err != nil {
		return err
	}
	kind := func(*client.Client) (string, error) { return c.Kind, nil }
	if err := convertNumbers(ctx, s, kind, settings); err != nil {
		return err
	}
	n := fermata.NewChannel{Name: c.Name, Kind: c.Kind, Settings: settings, Disabled: c.Disabled}
	if err := n.Check(); err != nil {
		return err
	}
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/channels", n); done {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	added, err := server.AddChannel(ctx, n)
	if err != nil {
		return err
	}
	s.PrintDone(added.WorkspaceID, "added the channel %s; try it: fermata channel test %s", terminal.OneLine(added.Name), terminal.OneLine(added.Name))
	if s.JSON {
		return s.WriteJSON(added)
	}
	printGeneratedSettings(s, added, settings)
	return nil
}

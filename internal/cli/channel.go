package cli

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
)

type channelCommand struct {
	Add     channelAddCommand     `cmd:"" help:"Add a channel."`
	List    channelListCommand    `cmd:"" help:"List the channels."`
	Show    channelShowCommand    `cmd:"" help:"Show a channel and its settings."`
	Set     channelSetCommand     `cmd:"" help:"Change settings of a channel."`
	Test    channelTestCommand    `cmd:"" help:"Check that a channel works, and send a test message."`
	Enable  channelEnableCommand  `cmd:"" help:"Use a channel again."`
	Disable channelDisableCommand `cmd:"" help:"Send nothing over a channel any more."`
	Remove  channelRemoveCommand  `cmd:"" help:"Remove a channel."`
	Kinds   channelKindsCommand   `cmd:"" help:"List the kinds of channels, and what they need."`
	Routes  channelRoutesCommand  `cmd:"" help:"Show where questions go, or say it with a file."`
}

// settingFlags are settings of a channel.
type settingFlags struct {
	Setting map[string]string `arg:"" optional:"" name:"setting" placeholder:"NAME=VALUE" help:"Settings; a secret may be env:NAME or file:/path, read by the server."`
	File    string            `short:"f" type:"existingfile" placeholder:"FILE" help:"JSON object with settings."`
}

// settings returns what the flags say. A value that is JSON of a list, a
// number or a truth value is taken as that.
func (f settingFlags) settings() (map[string]any, error) {
	all := map[string]any{}
	if f.File != "" {
		text, err := os.ReadFile(f.File)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &all); err != nil {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "%s is no JSON object: %w", f.File, err)
		}
	}
	for name, value := range f.Setting {
		all[name] = settingValue(value)
	}
	return all, nil
}

func settingValue(s string) any {
	var v any
	if json.Unmarshal([]byte(s), &v) != nil {
		return s
	}
	switch v.(type) {
	case bool, []any, map[string]any, nil:
		return v
	default:
		// A number may as well be a name; the schema of the kind decides.
		return s
	}
}

type channelAddCommand struct {
	write
	Kind string `arg:"" help:"Kind of channel: slack, email, github, webhook, notify …"`
	Name string `arg:"" help:"Name of the channel; what routes and questions name."`
	settingFlags
	Disabled bool `help:"Add it, but do not use it yet."`
}

func (channelAddCommand) Help() string {
	return `What a kind needs: fermata channel kinds

Examples:

    fermata channel add slack slack bot_token=env:SLACK_BOT_TOKEN app_token=env:SLACK_APP_TOKEN conversation=C0123456789
    fermata channel add webhook audit url=https://example.com/hook 'events=["question.asked"]'
    fermata channel add notify phone url=file:/run/secrets/ntfy`
}

func (c *channelAddCommand) Run(ctx context.Context, s *session) error {
	settings, err := c.settings()
	if err != nil {
		return err
	}
	n := fermata.NewChannel{Name: c.Name, Kind: c.Kind, Settings: settings, Disabled: c.Disabled}
	if err := n.Check(); err != nil {
		return err
	}
	if done, err := s.rehearse(c.write, "POST", "/channels", n); done {
		return err
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	added, err := server.AddChannel(ctx, n)
	if err != nil {
		return err
	}
	s.wrote(added.WorkspaceID, "added the channel %s; try it: fermata channel test %s", oneLine(added.Name), oneLine(added.Name))
	if s.JSON {
		return s.json(added)
	}
	s.shownOnce(added, settings)
	return nil
}

// shownOnce prints what the server made for a channel: it is not shown again.
func (s *session) shownOnce(c *fermata.Channel, given map[string]any) {
	var names []string
	for name := range c.Settings {
		if _, mine := given[name]; !mine {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		s.data().line("%s=%s", name, settingText(c.Settings[name]))
	}
}

func settingText(v any) string {
	if text, ok := v.(string); ok {
		return oneLine(text)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}

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
		return s.json(all)
	}
	t := &table{columns: []column{{head: "NAME"}, {head: "KIND"}, {head: "STATE"}, {head: "LAST SENT"}, {head: "LAST ERROR", flex: true}}}
	for _, channel := range all {
		sent := ""
		if channel.LastSentAt != nil {
			sent = s.ago(*channel.LastSentAt)
		}
		t.add(channel.Name, channel.Kind, channelState(channel), sent, channel.LastError)
	}
	s.print(t, "there are no channels")
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
		return s.json(found)
	}
	p := s.data()
	p.line("%s (%s), %s", oneLine(found.Name), oneLine(found.Kind), channelState(found))
	s.shownOnce(found, nil)
	if len(found.SecretsSet) > 0 {
		p.line("secrets that are set: %s", strings.Join(found.SecretsSet, ", "))
	}
	if found.LastError != "" {
		p.line("last error: %s", oneLine(found.LastError))
	}
	return nil
}

type channelSetCommand struct {
	write
	Name string `arg:"" help:"Name of the channel."`
	settingFlags
	Unset []string `placeholder:"NAME" help:"Take a setting away; repeat it."`
}

func (channelSetCommand) Help() string {
	return `What is not named stays as it is.

Examples:

    fermata channel set audit 'events=["*"]'
    fermata channel set audit secret=generate
    fermata channel set slack --unset app_token`
}

func (c *channelSetCommand) Run(ctx context.Context, s *session) error {
	settings, err := c.settings()
	if err != nil {
		return err
	}
	for _, name := range c.Unset {
		settings[name] = nil
	}
	return s.changeChannel(ctx, c.write, c.Name, fermata.ChannelChange{Settings: settings}, settings)
}

// changeChannel changes a channel and prints what the server made for it.
func (s *session) changeChannel(ctx context.Context, w write, name string, ch fermata.ChannelChange, given map[string]any) error {
	if done, err := s.rehearse(w, "PATCH", "/channels/"+name, ch); done {
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
	s.wrote(changed.WorkspaceID, "changed the channel %s; it is %s", oneLine(changed.Name), channelState(changed))
	if s.JSON {
		return s.json(changed)
	}
	known := fermata.Merge(before.Settings, given)
	s.shownOnce(changed, known)
	return nil
}

type channelTestCommand struct {
	Name string `arg:"" help:"Name of the channel."`
	To   string `placeholder:"HANDLE" help:"Send a test message to this person."`
}

func (channelTestCommand) Help() string {
	return `It asks the remote system whether the settings work, and says what to do where they do not.

Examples:

    fermata channel test slack
    fermata channel test email --to anna`
}

func (c *channelTestCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
	if err != nil {
		return err
	}
	result, err := server.TestChannel(ctx, c.Name, c.To)
	if err != nil {
		return err
	}
	if s.JSON {
		if err := s.json(result); err != nil {
			return err
		}
	}
	for _, p := range result.Problems {
		s.talk().line("%s", oneLine(p.Message))
		if p.Hint != "" {
			s.talk().line("  %s", oneLine(p.Hint))
		}
	}
	if !result.OK {
		return fermata.Errorf(fermata.CodeUnavailable, "the channel %s does not work", c.Name)
	}
	s.wrote("", "the channel %s works", oneLine(c.Name))
	if result.DeliveryID != "" {
		s.wrote("", "a test message is on its way: fermata deliveries show %s", shortID(result.DeliveryID))
	}
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

type channelRemoveCommand struct {
	write
	Name string `arg:"" help:"Name of the channel."`
}

func (channelRemoveCommand) Help() string {
	return `What was sent over it stays on record.

Examples:

    fermata channel remove audit`
}

func (c *channelRemoveCommand) Run(ctx context.Context, s *session) error {
	if done, err := s.rehearse(c.write, "DELETE", "/channels/"+c.Name, nil); done {
		return err
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	if err := server.RemoveChannel(ctx, c.Name); err != nil {
		return err
	}
	s.wrote("", "removed the channel %s", oneLine(c.Name))
	return nil
}

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
		return s.json(all)
	}
	t := &table{columns: []column{{head: "KIND"}, {head: "SETTING"}, {head: "", flex: true}}}
	for _, k := range all {
		var schema struct {
			Required   []string
			Properties map[string]struct{ Title, Description string }
		}
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
	s.print(t, "there are no kinds of channels")
	return nil
}

type channelRoutesCommand struct {
	write
	File string `short:"f" type:"existingfile" placeholder:"FILE" help:"JSON with the new routes, as fermata channel routes --json prints them."`
}

func (channelRoutesCommand) Help() string {
	return `Examples:

    fermata channel routes
    fermata channel routes --json > routes.json
    fermata channel routes -f routes.json`
}

func (c *channelRoutesCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
	if err != nil {
		return err
	}
	routes, err := server.Routes(ctx)
	if err != nil {
		return err
	}
	if c.File != "" {
		text, err := os.ReadFile(c.File)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &routes); err != nil {
			return fermata.Errorf(fermata.CodeInvalidRequest, "%s cannot be read as routes: %w", c.File, err)
		}
		if err := routes.Check(); err != nil {
			return err
		}
		if done, err := s.rehearse(c.write, "PUT", "/routes", routes); done {
			return err
		}
		if routes, err = server.SetRoutes(ctx, routes); err != nil {
			return err
		}
		s.wrote("", "questions that are asked from now on go these ways")
	}
	if s.JSON {
		return s.json(routes)
	}
	t := &table{columns: []column{{head: "TYPE"}, {head: "AFTER"}, {head: "CHANNEL"}, {head: "WHEN", flex: true}}}
	for _, r := range []struct {
		name  string
		steps []fermata.RouteStep
	}{
		{"blocking", routes.Blocking},
		{"approval", routes.Approval},
		{"error_recovery", routes.ErrorRecovery},
		{"non_blocking", routes.NonBlocking},
		{"progress", routes.Progress},
	} {
		for _, step := range r.steps {
			t.add(r.name, step.After, step.Channel, string(step.When))
		}
	}
	s.print(t, "nothing is sent: questions are in the inbox only")
	return nil
}

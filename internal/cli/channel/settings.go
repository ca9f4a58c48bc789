package channel

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// settingArgs holds the settings of a channel.
type settingArgs struct {
	Setting []string `arg:"" optional:"" name:"setting" sep:"none" placeholder:"NAME=VALUE" help:"Settings; a secret may be env:NAME or file:/path, read by the server."`
	File    string   `short:"f" type:"path" placeholder:"FILE" help:"JSON object with settings; - is standard input."`
}

// settings returns the settings of the file and the arguments. It decodes a
// value that is a JSON list, object, truth value or null. A number stays text:
// see [convertNumbers].
func (f settingArgs) settings(s *session.Session) (map[string]any, error) {
	if err := session.CheckUniqueNames("", f.Setting); err != nil {
		return nil, err
	}
	all := map[string]any{}
	if f.File != "" {
		if err := s.ReadJSON(f.File, &all); err != nil {
			return nil, err
		}
	}
	for _, setting := range f.Setting {
		name, value, ok := strings.Cut(setting, "=")
		if !ok {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "%q names no value", setting).WithHint("write %s=VALUE", setting)
		}
		if _, twice := all[name]; twice {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the file of --file says %s, and the command line says it as well", name).
				WithHint("say it in one of the two places")
		}
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
		// A number may be meant as a name: see [convertNumbers].
		return s
	}
}

// convertNumbers converts the settings that the kind of channel defines as
// numbers. It asks the server only if a value could be a number.
func convertNumbers(ctx context.Context, s *session.Session, kindOf func(*client.Client) (string, error), settings map[string]any) error {
	numbers := map[string]json.Number{}
	for name, v := range settings {
		var n json.Number
		if text, ok := v.(string); ok && json.Unmarshal([]byte(text), &n) == nil {
			numbers[name] = n
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	kind, err := kindOf(server)
	if err != nil {
		return err
	}
	schema, err := schemaOf(ctx, server, kind)
	if err != nil {
		return err
	}
	for name, n := range numbers {
		if t := schema.Properties[name].Type; t == "integer" || t == "number" {
			settings[name] = n
		}
	}
	return nil
}

// channelSchema is the used part of the JSON Schema of a kind's settings.
type channelSchema struct {
	Required   []string
	Properties map[string]struct{ Type, Description string }
}

// schemaOf returns the schema of a kind. It is empty if there is no such kind.
func schemaOf(ctx context.Context, server *client.Client, kind string) (schema channelSchema, err error) {
	all, err := server.ChannelKinds(ctx)
	if err != nil {
		return schema, err
	}
	for _, k := range all {
		if k.Kind == kind {
			return schema, json.Unmarshal(k.Schema, &schema)
		}
	}
	return schema, nil
}

// printGeneratedSettings prints the settings of a channel whose values are not in known: the server generated them, and
// does not show the secret ones again.
func printGeneratedSettings(s *session.Session, c *fermata.Channel, known map[string]any) {
	var names []string
	for name, value := range c.Settings {
		// A caller may name a setting and still not know its value, as in secret=generate.
		if old, isKnown := known[name]; !isKnown || settingText(old) != settingText(value) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		s.Stdout().Line("%s=%s", name, settingText(c.Settings[name]))
	}
}

func settingText(v any) string {
	if text, ok := v.(string); ok {
		return terminal.OneLine(text)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}

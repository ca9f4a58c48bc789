package workflow

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type toolsShowCommand struct {
	Name string `arg:"" complete:"tool" help:"Name of the tool."`
}

func (toolsShowCommand) Help() string {
	return `Examples:

    fermata workflow tools show analyze_issue
    fermata workflow tools show post_question --json | jq .input`
}

func (c *toolsShowCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	var named *fermata.NamedTool
	if !strings.Contains(c.Name, ".") {
		if named, err = server.NamedTool(ctx, c.Name); session.IsLookupFailure(err) {
			return err
		}
	}
	if named != nil {
		return showNamedTool(s, named)
	}
	all, err := server.Tools(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(t fermata.ToolInfo) bool { return t.Name == c.Name })
	if i < 0 {
		return fermata.NotFound("tool", c.Name).WithHint("fermata workflow tools list shows them")
	}
	if s.JSON {
		return s.WriteJSON(all[i])
	}
	showTool(s, all[i])
	return nil
}

func showNamedTool(s *session.Session, t *fermata.NamedTool) error {
	if s.JSON {
		return s.WriteJSON(t)
	}
	p := s.Stdout()
	p.PrintTitle(t.Name)
	p.Line("%s", p.Dim(toolKind(t)+", defined by "+render.ActorName(t.UpdatedBy)+" "+sinceText(s, t.UpdatedAt)))
	p.PrintQuoted("", t.Description)
	switch {
	case t.Agent != nil:
		for _, fact := range [][2]string{{"runner", t.Agent.Runner}, {"agent", t.Agent.Agent}, {"size", t.Agent.Size}} {
			if fact[1] != "" {
				p.Line("%s: %s", fact[0], terminal.OneLine(fact[1]))
			}
		}
		p.Line("prompt:")
		p.PrintQuoted("", t.Agent.Prompt)
	case t.Server != nil:
		showToolServer(s, t.Server)
		showListing(s, t.Listing)
	default:
		p.Line("command: %s", commandText(t.Command))
	}
	if t.Timeout != "" {
		p.Line("timeout: %s", terminal.OneLine(t.Timeout))
	}
	if t.Isolated {
		p.Line("isolated: only a worker with --isolate runs it")
	}
	printSchema(p, "output", t.Schema)
	return nil
}

func showToolServer(s *session.Session, t *fermata.ToolServer) {
	p := s.Stdout()
	if t.URL != "" {
		p.Line("url: %s", terminal.OneLine(t.URL))
	} else {
		p.Line("command: %s", commandText(t.Command))
	}
	for _, values := range []map[string]string{t.Headers, t.Env} {
		names := make([]string, 0, len(values))
		for name := range values {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			p.Line("  %s: %s", terminal.OneLine(name), terminal.OneLine(values[name]))
		}
	}
}

func showListing(s *session.Session, l *fermata.ToolListing) {
	if l == nil {
		return
	}
	p := s.Stdout()
	p.Line("%s, asked %s", terminal.CountText(len(l.Tools), "tool"), sinceText(s, l.At))
	if l.Error != "" {
		p.Line("it did not answer: %s", terminal.OneLine(l.Error))
	}
}

// commandText returns a command as JSON, because no shell runs it.
func commandText(command []string) string {
	data, err := terminal.EncodeJSON(command, "")
	if err != nil {
		return ""
	}
	return terminal.OneLine(string(data))
}

func showTool(s *session.Session, t fermata.ToolInfo) {
	p := s.Stdout()
	p.PrintTitle(t.Name)
	p.Line("%s", p.Dim(terminal.OneLine(strings.ReplaceAll(t.Kind, "_", " "))))
	p.PrintQuoted("", t.Description)
	if t.Error != "" {
		p.Line("its tools are not known: %s", terminal.OneLine(t.Error))
	}
	printSchema(p, "input", t.Input)
	printSchema(p, "output", t.Output)
}

// printSchema writes the fields of a JSON Schema.
func printSchema(p terminal.Printer, name string, schema json.RawMessage) {
	var s struct {
		Required []string `json:"required"`
		Defs     map[string]struct {
			Type any `json:"type"`
			Enum any `json:"enum"`
		} `json:"$defs"`
		Properties map[string]struct {
			Type        any    `json:"type"`
			Ref         string `json:"$ref"`
			Description string `json:"description"`
			Enum        any    `json:"enum"`
		} `json:"properties"`
	}
	if len(schema) == 0 || json.Unmarshal(schema, &s) != nil {
		return
	}
	if len(s.Properties) == 0 {
		p.Line("%s: %s", name, terminal.OneLine(string(schema)))
		return
	}
	p.Line("%s:", name)
	names := make([]string, 0, len(s.Properties))
	for field := range s.Properties {
		names = append(names, field)
	}
	slices.Sort(names)
	for _, field := range names {
		property := s.Properties[field]
		if def, ok := s.Defs[strings.TrimPrefix(property.Ref, "#/$defs/")]; ok && property.Ref != "" {
			property.Type, property.Enum = def.Type, def.Enum
		}
		parts := []string{terminal.OneLine(field)}
		if property.Type != nil {
			parts = append(parts, terminal.OneLine(render.ValueText(property.Type)))
		}
		if slices.Contains(s.Required, field) {
			parts = append(parts, "required")
		}
		if property.Enum != nil {
			parts = append(parts, "one of "+terminal.OneLine(render.ValueText(property.Enum)))
		}
		if property.Description != "" {
			parts = append(parts, terminal.OneLine(property.Description))
		}
		p.PrintText("  " + strings.Join(parts, "  "))
	}
}

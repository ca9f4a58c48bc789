package cli

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
)

type toolsShowCommand struct {
	Name string `arg:"" complete:"tool" help:"Name of the tool."`
}

func (toolsShowCommand) Help() string {
	return `Examples:

    fermata workflow tools show analyze_issue
    fermata workflow tools show post_question --json | jq .input`
}

func (c *toolsShowCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
	if err != nil {
		return err
	}
	var named *fermata.NamedTool
	if !strings.Contains(c.Name, ".") {
		if named, err = server.NamedTool(ctx, c.Name); isLookupFailure(err) {
			return err
		}
	}
	if named != nil {
		return s.showNamedTool(named)
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
		return s.writeJSON(all[i])
	}
	s.showTool(all[i])
	return nil
}

func (s *session) showNamedTool(t *fermata.NamedTool) error {
	if s.JSON {
		return s.writeJSON(t)
	}
	p := s.stdout()
	p.printTitle(t.Name)
	p.line("%s", p.dim(toolKind(t)+", defined by "+actorName(t.UpdatedBy)+" "+s.sinceText(t.UpdatedAt)))
	p.printQuoted("", t.Description)
	switch {
	case t.Agent != nil:
		for _, fact := range [][2]string{{"runner", t.Agent.Runner}, {"agent", t.Agent.Agent}, {"size", t.Agent.Size}} {
			if fact[1] != "" {
				p.line("%s: %s", fact[0], oneLine(fact[1]))
			}
		}
		p.line("prompt:")
		p.printQuoted("", t.Agent.Prompt)
	case t.Server != nil:
		s.showToolServer(t.Server)
		s.showListing(t.Listing)
	default:
		p.line("command: %s", commandText(t.Command))
	}
	if t.Timeout != "" {
		p.line("timeout: %s", oneLine(t.Timeout))
	}
	if t.Isolated {
		p.line("isolated: only a worker with --isolate runs it")
	}
	p.printSchema("output", t.Schema)
	return nil
}

func (s *session) showToolServer(t *fermata.ToolServer) {
	p := s.stdout()
	if t.URL != "" {
		p.line("url: %s", oneLine(t.URL))
	} else {
		p.line("command: %s", commandText(t.Command))
	}
	for _, values := range []map[string]string{t.Headers, t.Env} {
		names := make([]string, 0, len(values))
		for name := range values {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			p.line("  %s: %s", oneLine(name), oneLine(values[name]))
		}
	}
}

func (s *session) showListing(l *fermata.ToolListing) {
	if l == nil {
		return
	}
	p := s.stdout()
	p.line("%s, asked %s", countText(len(l.Tools), "tool"), s.sinceText(l.At))
	if l.Error != "" {
		p.line("it did not answer: %s", oneLine(l.Error))
	}
}

// commandText returns a command as JSON, because no shell runs it.
func commandText(command []string) string {
	data, err := encodeJSON(command, "")
	if err != nil {
		return ""
	}
	return oneLine(string(data))
}

func (s *session) showTool(t fermata.ToolInfo) {
	p := s.stdout()
	p.printTitle(t.Name)
	p.line("%s", p.dim(oneLine(strings.ReplaceAll(t.Kind, "_", " "))))
	p.printQuoted("", t.Description)
	if t.Error != "" {
		p.line("its tools are not known: %s", oneLine(t.Error))
	}
	p.printSchema("input", t.Input)
	p.printSchema("output", t.Output)
}

// printSchema writes the fields of a JSON Schema.
func (p printer) printSchema(name string, schema json.RawMessage) {
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
		p.line("%s: %s", name, oneLine(string(schema)))
		return
	}
	p.line("%s:", name)
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
		parts := []string{oneLine(field)}
		if property.Type != nil {
			parts = append(parts, oneLine(valueText(property.Type)))
		}
		if slices.Contains(s.Required, field) {
			parts = append(parts, "required")
		}
		if property.Enum != nil {
			parts = append(parts, "one of "+oneLine(valueText(property.Enum)))
		}
		if property.Description != "" {
			parts = append(parts, oneLine(property.Description))
		}
		p.printText("  " + strings.Join(parts, "  "))
	}
}

package workflow

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// Tools that the engine of workflows has itself: they stop the run.
const (
	toolQuestion = "post_question"
	toolApproval = "request_approval"
	toolAgent    = "agent"
	toolShell    = "shell"
	toolWait     = "wait"
	toolWorkflow = "workflow"
)

// known is what definitions of a workspace may name.
func (s *Service) known(ctx context.Context, workspace string) (definition.Known, error) {
	named, err := s.db.In(ctx, workspace).NamedTools()
	if err != nil {
		return definition.Known{}, err
	}
	known := definition.Known{Tools: maps.Clone(builtIn)}
	for name, t := range s.tools {
		known.Tools[name] = t.Info()
	}
	for _, n := range named {
		if n.Server == nil {
			known.Tools[n.Name] = tool.Info{Name: n.Name, Description: n.Description, Output: n.Schema}
			known.Delegated = append(known.Delegated, n.Name)
			continue
		}
		list, err := s.serverTools(ctx, n)
		if err != nil {
			known.Unlisted = append(known.Unlisted, n.Name)
		}
		maps.Copy(known.Tools, infos(list))
	}
	return known, nil
}

// listWithin is how long a server may take to list its tools.
const listWithin = 5 * time.Second

func (s *Service) serverTools(ctx context.Context, n *fermata.NamedTool) ([]tool.Info, error) {
	if s.Servers == nil {
		return nil, fermata.Errorf(fermata.CodeUnavailable, "this server calls no MCP servers")
	}
	ctx, cancel := context.WithTimeout(ctx, listWithin)
	defer cancel()
	return s.Servers.Tools(ctx, n.Name, *n.Server)
}

// Tools lists everything that steps may name.
func (s *Service) Tools(ctx context.Context, c fermata.Caller) ([]fermata.ToolInfo, error) {
	if err := engine.MayUse(c, "", fermata.ScopeRead); err != nil {
		return nil, err
	}
	named, err := s.reads(ctx, c).NamedTools()
	if err != nil {
		return nil, err
	}
	var all []fermata.ToolInfo
	add := func(kind string, infos ...tool.Info) {
		for _, i := range infos {
			all = append(all, fermata.ToolInfo{Name: i.Name, Description: i.Description, Kind: kind, Input: i.Input, Output: i.Output})
		}
	}
	add("built_in", builtIns...)
	for _, t := range s.tools {
		add("built_in", t.Info())
	}
	for _, n := range named {
		switch {
		case n.Agent != nil:
			add("agent", tool.Info{Name: n.Name, Description: n.Description, Output: n.Schema})
		case n.Server == nil:
			add("command", tool.Info{Name: n.Name, Description: n.Description, Output: n.Schema})
		default:
			list, err := s.serverTools(ctx, n)
			if err != nil {
				all = append(all, fermata.ToolInfo{Name: n.Name, Description: n.Description, Kind: "server", Error: err.Error()})
			}
			add("server", list...)
		}
	}
	slices.SortFunc(all, func(a, b fermata.ToolInfo) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// NamedTools lists the tools that the workspace has defined.
func (s *Service) NamedTools(ctx context.Context, c fermata.Caller) ([]*fermata.NamedTool, error) {
	if err := engine.MayUse(c, "", fermata.ScopeRead); err != nil {
		return nil, err
	}
	all, err := s.reads(ctx, c).NamedTools()
	for _, t := range all {
		t.Server = hidden(t.Server)
	}
	return all, err
}

// NamedTool returns one of them.
func (s *Service) NamedTool(ctx context.Context, c fermata.Caller, name string) (*fermata.NamedTool, error) {
	if err := engine.MayUse(c, "", fermata.ScopeRead); err != nil {
		return nil, err
	}
	t, err := s.reads(ctx, c).NamedTool(name)
	if err != nil {
		return nil, err
	}
	t.Server = hidden(t.Server)
	return t, nil
}

// hidden leaves out what may be a secret: values that do not say where they are
// read from.
func hidden(s *fermata.ToolServer) *fermata.ToolServer {
	if s == nil {
		return nil
	}
	out := *s
	out.Env, out.Headers = hiddenValues(s.Env), hiddenValues(s.Headers)
	return &out
}

func hiddenValues(values map[string]string) map[string]string {
	out := maps.Clone(values)
	for name, v := range out {
		if !strings.HasPrefix(v, "env:") {
			out[name] = unseen
		}
	}
	return out
}

// unseen stands for a value that is not shown.
const unseen = "•••"

// shownAgain takes the former value where one comes back as it was shown.
func shownAgain(given, before map[string]string) map[string]string {
	out := maps.Clone(given)
	for name, v := range out {
		if v == unseen {
			out[name] = before[name]
		}
	}
	return out
}

var toolName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// PutNamedTool keeps a tool under its name.
func (s *Service) PutNamedTool(ctx context.Context, c fermata.Caller, n *fermata.NamedTool) (*fermata.NamedTool, error) {
	if err := mayDefine(c, ""); err != nil {
		return nil, err
	}
	if n.Server != nil && c.Role != fermata.RoleAdmin {
		return nil, fermata.Errorf(fermata.CodeForbidden, "only admins configure MCP servers: their settings can name variables of the server")
	}
	if err := s.checkNamedTool(n); err != nil {
		return nil, err
	}
	return engine.Write(ctx, s.e, c, func(tx *store.Tx) (*fermata.NamedTool, error) {
		before, err := tx.NamedTool(n.Name)
		if err != nil && fermata.CodeOf(err) != fermata.CodeNotFound {
			return nil, err
		}
		kept := *n
		if before != nil && before.Server != nil && n.Server != nil {
			server := *n.Server
			server.Env, server.Headers = shownAgain(server.Env, before.Server.Env), shownAgain(server.Headers, before.Server.Headers)
			kept.Server = &server
		}
		kept.UpdatedBy, kept.UpdatedAt = c.Actor(), tx.Now()
		tx.SaveNamedTool(&kept)
		tx.Append(&fermata.Event{Type: fermata.EventToolChanged, Actor: c.Actor(), Data: data(map[string]any{"tool": n.Name})})
		kept.Server = hidden(kept.Server)
		return &kept, nil
	})
}

func (s *Service) checkNamedTool(n *fermata.NamedTool) error {
	var problems []fermata.Problem
	add := func(field, format string, args ...any) {
		problems = append(problems, fermata.Problem{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	if !toolName.MatchString(n.Name) {
		add("name", "must be lower-case letters, digits and _, beginning with a letter")
	}
	if _, taken := s.tools[n.Name]; taken || builtIn[n.Name].Name != "" {
		add("name", "%s is built in", n.Name)
	}
	kinds := 0
	for _, set := range []bool{n.Agent != nil, len(n.Command) > 0, n.Server != nil} {
		if set {
			kinds++
		}
	}
	if kinds != 1 {
		add("agent", "give exactly one of agent, command and server")
	}
	if n.Agent != nil {
		if strings.TrimSpace(n.Agent.Prompt) == "" {
			add("agent.prompt", "must not be empty")
		}
		if _, err := template(n.Agent.Prompt); err != nil {
			add("agent.prompt", "%s", err)
		}
	}
	for i, arg := range n.Command {
		if _, err := template(arg); err != nil {
			add(fmt.Sprintf("command[%d]", i), "%s", err)
		}
	}
	if n.Server != nil && (n.Server.URL == "") == (len(n.Server.Command) == 0) {
		add("server", "give either url or command")
	}
	if len(n.Schema) > 0 {
		if _, err := compile(n.Schema); err != nil {
			add("schema", "%s", err)
		}
	}
	if n.Timeout != "" {
		if _, err := fermata.Timeout(n.Timeout).Duration(); err != nil {
			add("timeout", "%s", err)
		}
	}
	if len(problems) > 0 {
		return fermata.Invalid(problems...)
	}
	return nil
}

// DeleteNamedTool removes a tool. Steps that name it fail from then on.
func (s *Service) DeleteNamedTool(ctx context.Context, c fermata.Caller, name string) error {
	if err := mayDefine(c, ""); err != nil {
		return err
	}
	_, err := engine.Write(ctx, s.e, c, func(tx *store.Tx) (struct{}, error) {
		if _, err := tx.NamedTool(name); err != nil {
			return struct{}{}, err
		}
		tx.DeleteNamedTool(name)
		tx.Append(&fermata.Event{Type: fermata.EventToolRemoved, Actor: c.Actor(), Data: data(map[string]any{"tool": name})})
		return struct{}{}, nil
	})
	return err
}

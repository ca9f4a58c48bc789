package workflow

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// NamedTools returns all tools that the workspace has defined.
func (s *Service) NamedTools(ctx context.Context, c fermata.Caller) ([]*fermata.NamedTool, error) {
	if err := c.CheckPermission(fermata.ToReadWorkflows, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	all, err := s.readerFor(ctx, c).NamedTools()
	for _, t := range all {
		t.Server = hideSecrets(t.Server)
	}
	return all, err
}

// NamedTool returns one tool that the workspace has defined.
func (s *Service) NamedTool(ctx context.Context, c fermata.Caller, name string) (*fermata.NamedTool, error) {
	if err := c.CheckPermission(fermata.ToReadWorkflows, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	t, err := s.readerFor(ctx, c).NamedTool(name)
	if err != nil {
		return nil, err
	}
	t.Server = hideSecrets(t.Server)
	return t, nil
}

// hideSecrets returns a copy of a server's settings without values that may be
// secret: all values that do not begin with "env:".
func hideSecrets(s *fermata.ToolServer) *fermata.ToolServer {
	if s == nil {
		return nil
	}
	out := *s
	out.Env, out.Headers = maskValues(s.Env), maskValues(s.Headers)
	return &out
}

func maskValues(values map[string]string) map[string]string {
	out := maps.Clone(values)
	for name, v := range out {
		if !strings.HasPrefix(v, "env:") {
			out[name] = maskedValue
		}
	}
	return out
}

// maskedValue is shown instead of a hidden value.
const maskedValue = "•••"

// unmaskValues returns a copy of given. Each value that the client sent back as [maskedValue] has its stored value
// again.
func unmaskValues(given, before map[string]string) map[string]string {
	out := maps.Clone(given)
	for name, v := range out {
		if v == maskedValue {
			out[name] = before[name]
		}
	}
	return out
}

var toolName = lazyregexp.New(`^[a-z][a-z0-9_]{0,63}$`)

// PutNamedTool stores a tool under its name.
func (s *Service) PutNamedTool(ctx context.Context, c fermata.Caller, n *fermata.NamedTool) (*fermata.NamedTool, error) {
	if err := c.CheckPermission(fermata.ToDefineTools, fermata.InWorkspace); err != nil {
		return nil, err
	}
	if problems := s.checkNamedTool(n); len(problems) > 0 {
		return nil, fermata.Invalid(problems...)
	}
	storedTools, err := s.storeNamedTools(ctx, c, []*fermata.NamedTool{n})
	if err != nil {
		return nil, err
	}
	return storedTools[0], nil
}

// PutNamedTools stores several tools under their names: all of them, or none.
func (s *Service) PutNamedTools(ctx context.Context, c fermata.Caller, all []*fermata.NamedTool) ([]*fermata.NamedTool, error) {
	if err := c.CheckPermission(fermata.ToDefineTools, fermata.InWorkspace); err != nil {
		return nil, err
	}
	var problems []fermata.Problem
	for i, n := range all {
		at := fmt.Sprintf("items[%d].", i)
		if slices.ContainsFunc(all[:i], func(other *fermata.NamedTool) bool { return other.Name == n.Name }) {
			problems = append(problems, fermata.Problem{Field: at + "name", Message: n.Name + " is there twice"})
		}
		for _, p := range s.checkNamedTool(n) {
			problems = append(problems, fermata.Problem{Field: at + p.Field, Message: p.Message})
		}
	}
	if len(problems) > 0 {
		return nil, fermata.Invalid(problems...)
	}
	return s.storeNamedTools(ctx, c, all)
}

// storeNamedTools stores checked tools in one transaction. It then asks the MCP
// servers among them for their tools.
func (s *Service) storeNamedTools(ctx context.Context, c fermata.Caller, all []*fermata.NamedTool) ([]*fermata.NamedTool, error) {
	storedTools, err := engine.Write(ctx, s.e, c, fermata.ToDefineTools, func(tx *store.Tx) ([]*fermata.NamedTool, error) {
		storedTools := make([]*fermata.NamedTool, 0, len(all))
		for _, n := range all {
			k, err := storeNamedTool(tx, c, *n)
			if err != nil {
				return nil, err
			}
			storedTools = append(storedTools, k)
		}
		return storedTools, nil
	})
	if err != nil {
		return nil, err
	}
	return storedTools, s.askServers(ctx, c, storedTools)
}

func storeNamedTool(tx *store.Tx, c fermata.Caller, n fermata.NamedTool) (*fermata.NamedTool, error) {
	before, err := tx.NamedTool(n.Name)
	switch {
	case fermata.CodeOf(err) == fermata.CodeNotFound:
		before = &fermata.NamedTool{}
	case err != nil:
		return nil, err
	}
	if err := checkServerPermission(c, n.Server, before.Server); err != nil {
		return nil, err
	}
	if before.Server != nil && n.Server != nil {
		server := *n.Server
		server.Env, server.Headers = unmaskValues(server.Env, before.Server.Env), unmaskValues(server.Headers, before.Server.Headers)
		n.Server = &server
		if reflect.DeepEqual(n.Server, before.Server) {
			n.Listing = before.Listing
		}
	}
	n.UpdatedBy, n.UpdatedAt = c.Actor(), tx.Now()
	tx.SaveNamedTool(&n)
	tx.Append(&fermata.Event{Type: fermata.EventToolChanged, Actor: c.Actor(), Data: encodeJSON(map[string]any{"tool": n.Name})})
	n.Server = hideSecrets(n.Server)
	return &n, nil
}

// checkServerPermission returns an error if the caller may not set up, replace or remove
// an MCP server. The settings of such a server can name environment variables
// of the Fermata server.
func checkServerPermission(c fermata.Caller, servers ...*fermata.ToolServer) error {
	for _, server := range servers {
		if server == nil {
			continue
		}
		if err := c.CheckPermission(fermata.ToDefineServers, fermata.InWorkspace); err != nil {
			return err
		}
	}
	return nil
}

// CheckTool checks a tool without a server. The error lists all problems.
func CheckTool(n *fermata.NamedTool) error {
	if problems := new(Service).checkNamedTool(n); len(problems) > 0 {
		return fermata.Invalid(problems...)
	}
	return nil
}

// checkNamedTool returns the problems of a tool.
func (s *Service) checkNamedTool(n *fermata.NamedTool) []fermata.Problem {
	var problems []fermata.Problem
	add := func(field, format string, args ...any) {
		problems = append(problems, fermata.Problem{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	if !toolName().MatchString(n.Name) {
		add("name", "must be lower-case letters, digits and _, beginning with a letter")
	}
	if _, isTaken := s.tools[n.Name]; isTaken || builtInByName[n.Name].Name != "" {
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
		if _, err := parseTemplate(n.Agent.Prompt); err != nil {
			add("agent.prompt", "%s", err)
		}
	}
	for i, arg := range n.Command {
		if _, err := parseTemplate(arg); err != nil {
			add(fmt.Sprintf("command[%d]", i), "%s", err)
		}
	}
	if fault := definition.ScriptFault(n.Command); fault != "" {
		add("command", "%s", fault)
	}
	if n.Server != nil && (n.Server.URL == "") == (len(n.Server.Command) == 0) {
		add("server", "give either url or command")
	}
	if n.Server != nil && n.Isolated {
		add("isolated", "is allowed only with agent or command: no worker runs a server")
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
	return problems
}

// DeleteNamedTool removes a tool. Steps that name it fail from then on.
func (s *Service) DeleteNamedTool(ctx context.Context, c fermata.Caller, name string) error {
	if err := c.CheckPermission(fermata.ToDefineTools, fermata.InWorkspace); err != nil {
		return err
	}
	_, err := engine.Write(ctx, s.e, c, fermata.ToDefineTools, func(tx *store.Tx) (struct{}, error) {
		n, err := tx.NamedTool(name)
		if err == nil {
			err = checkServerPermission(c, n.Server)
		}
		if err != nil {
			return struct{}{}, err
		}
		tx.DeleteNamedTool(name)
		tx.Append(&fermata.Event{Type: fermata.EventToolRemoved, Actor: c.Actor(), Data: encodeJSON(map[string]any{"tool": name})})
		return struct{}{}, nil
	})
	return err
}

package app

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/tool/mcp"
)

// toolServers keeps the connections to the MCP servers that workspaces have
// configured. If the settings of a server change, it opens a new connection.
type toolServers struct {
	opts mcp.Options

	mu   sync.Mutex
	sets map[string]*mcp.Set
}

func newToolServers(o ServeOptions, client *http.Client) *toolServers {
	return &toolServers{
		opts: mcp.Options{HTTP: client, AllowCommands: o.AllowToolCommands, Version: o.Version}, sets: map[string]*mcp.Set{},
	}
}

// set returns the connection to the server with these settings.
func (t *toolServers) set(name string, s fermata.ToolServer) (*mcp.Set, error) {
	key := fermata.Digest([]any{name, s})
	t.mu.Lock()
	defer t.mu.Unlock()
	if set := t.sets[key]; set != nil {
		return set, nil
	}
	set, err := mcp.New(map[string]mcp.Server{name: {URL: s.URL, Headers: s.Headers, Command: s.Command, Env: s.Env}}, t.opts)
	if err == nil {
		t.sets[key] = set
	}
	return set, err
}

// Tools implements [workflow.Servers].
func (t *toolServers) Tools(ctx context.Context, name string, s fermata.ToolServer) ([]tool.Info, error) {
	set, err := t.set(name, s)
	if err != nil {
		return nil, err
	}
	found, problems := set.Tools(ctx)
	if err := problems[name]; err != nil {
		return nil, err
	}
	all := make([]tool.Info, 0, len(found))
	for _, one := range found {
		all = append(all, one.Info())
	}
	slices.SortFunc(all, func(a, b tool.Info) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Call implements [workflow.Servers].
func (t *toolServers) Call(ctx context.Context, name string, s fermata.ToolServer, toolName string, c tool.Call) (tool.Result, error) {
	set, err := t.set(name, s)
	if err != nil {
		return tool.Result{}, err
	}
	one, ok := set.Tool(name + "." + toolName)
	if !ok {
		return tool.Result{}, tool.Permanent(fermata.Errorf(fermata.CodeNotFound, "there is no tool %s.%s", name, toolName))
	}
	return one.Call(ctx, c)
}

// close closes all connections.
func (t *toolServers) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, set := range t.sets {
		set.Close()
	}
}

// Package mcp makes the tools of MCP servers available to workflows. A tool is
// called server.tool. A connection is opened when it is needed, reused, and
// opened again after it broke.
package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
)

// Options configure a [Set].
type Options struct {
	// HTTP sends the requests to servers with a URL, and decides which
	// addresses may be reached. Its timeout is not used. nil means
	// http.DefaultClient.
	HTTP *http.Client
	// AllowCommands allows servers that are programs started here.
	AllowCommands bool
	// Version is the version of Fermata that servers are told.
	Version string
}

// Set holds the connections to MCP servers. It is safe for concurrent use.
type Set struct {
	opts  Options
	links map[string]*serverLink
}

// New returns a set of servers by name. It opens no connection yet. The error
// lists all problems of the servers.
func New(servers map[string]Server, o Options) (*Set, error) {
	if o.HTTP == nil {
		o.HTTP = http.DefaultClient
	}
	s := &Set{opts: o, links: map[string]*serverLink{}}
	var problems []fermata.Problem
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		problems = append(problems, servers[name].Check(name)...)
		s.links[name] = newLink(name, servers[name], &s.opts)
	}
	if len(problems) > 0 {
		return nil, fermata.Invalid(problems...)
	}
	return s, nil
}

// Close ends all connections, and the programs that were started. A later call
// connects again.
func (s *Set) Close() {
	var closing sync.WaitGroup
	for _, l := range s.links {
		closing.Go(l.close)
	}
	closing.Wait()
}

// listTime is the time limit for a server to list its tools.
const listTime = 15 * time.Second

// Tools returns the tools of all servers by name. The second map holds the
// error of each server that could not list its tools, by its name.
func (s *Set) Tools(ctx context.Context) (map[string]tool.Tool, map[string]error) {
	tools, problems := map[string]tool.Tool{}, map[string]error{}
	var mu sync.Mutex
	var listing sync.WaitGroup
	for name, l := range s.links {
		listing.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, listTime)
			defer cancel()
			found, err := l.tools(ctx)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				problems[name] = err
			}
			for _, one := range found {
				tools[one.info.Name] = one
			}
		})
	}
	listing.Wait()
	return tools, problems
}

// Tool returns the tool with a name. It does not ask the server whether the
// tool exists, and Info returns only the name. It reports false if the set has
// no such server.
func (s *Set) Tool(name string) (tool.Tool, bool) {
	server, toolName, _ := strings.Cut(name, ".")
	l := s.links[server]
	if l == nil || toolName == "" {
		return nil, false
	}
	return &serverTool{link: l, name: toolName, info: tool.Info{Name: name}}, true
}

// serverTool is a tool of an MCP server.
type serverTool struct {
	link *serverLink
	// name is the name of the tool at its server.
	name string
	info tool.Info
}

var _ tool.Tool = (*serverTool)(nil)

// Info implements [tool.Tool].
func (o *serverTool) Info() tool.Info { return o.info }

// newServerTool converts the description of a tool.
func newServerTool(l *serverLink, t *mcp.Tool) (*serverTool, error) {
	input, err := encodeSchema(t.InputSchema)
	if err != nil {
		return nil, err
	}
	output, err := encodeSchema(t.OutputSchema)
	if err != nil {
		return nil, err
	}
	return &serverTool{link: l, name: t.Name, info: tool.Info{
		Name: l.name + "." + t.Name, Description: t.Description, Input: input, Output: output,
		Idempotent: t.Annotations != nil && (t.Annotations.ReadOnlyHint || t.Annotations.IdempotentHint),
	}}, nil
}

func encodeSchema(given any) (json.RawMessage, error) {
	if given == nil {
		return nil, nil
	}
	return json.Marshal(given)
}

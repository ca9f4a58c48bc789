// Package mcp offers the tools of MCP servers as tools of workflows. A tool is
// called server.tool. Connections are made when they are needed, used again, and
// made anew when they broke.
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

// Options are what a set works with.
type Options struct {
	// HTTP makes the requests to servers with an address, and decides which may
	// be reached; its timeout is not used. nil takes the usual client.
	HTTP *http.Client
	// AllowCommands lets servers be programs that are started here.
	AllowCommands bool
	// Version is that of this program, as servers are told.
	Version string
}

// Set holds the connections to servers. Many goroutines use one.
type Set struct {
	opts  Options
	links map[string]*link
}

// New returns a set of servers by name. It connects to nothing.
func New(servers map[string]Server, o Options) (*Set, error) {
	if o.HTTP == nil {
		o.HTTP = http.DefaultClient
	}
	s := &Set{opts: o, links: map[string]*link{}}
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

// Close ends every connection, and the programs that were started. A call that
// comes later connects anew.
func (s *Set) Close() {
	var closing sync.WaitGroup
	for _, l := range s.links {
		closing.Go(l.close)
	}
	closing.Wait()
}

// listTime is how long a server may take to list its tools.
const listTime = 15 * time.Second

// Tools lists the tools of all servers by name, and what kept servers from
// listing theirs by the name of the server.
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

// Tool returns the tool of a name without asking its server whether it has it;
// its Info has no more than the name. It is false where no server of the set has
// such tools.
func (s *Set) Tool(name string) (tool.Tool, bool) {
	server, its, _ := strings.Cut(name, ".")
	l := s.links[server]
	if l == nil || its == "" {
		return nil, false
	}
	return &one{link: l, name: its, info: tool.Info{Name: name}}, true
}

// one is a tool of a server.
type one struct {
	link *link
	// name is what its server calls it.
	name string
	info tool.Info
}

var _ tool.Tool = (*one)(nil)

// Info implements [tool.Tool].
func (o *one) Info() tool.Info { return o.info }

// describe is a tool as steps see it.
func describe(l *link, t *mcp.Tool) (*one, error) {
	input, err := schema(t.InputSchema)
	if err != nil {
		return nil, err
	}
	output, err := schema(t.OutputSchema)
	if err != nil {
		return nil, err
	}
	return &one{link: l, name: t.Name, info: tool.Info{
		Name: l.name + "." + t.Name, Description: t.Description, Input: input, Output: output,
		Idempotent: t.Annotations != nil && (t.Annotations.ReadOnlyHint || t.Annotations.IdempotentHint),
	}}, nil
}

func schema(given any) (json.RawMessage, error) {
	if given == nil {
		return nil, nil
	}
	return json.Marshal(given)
}

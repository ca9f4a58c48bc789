package api

import (
	"context"
	"encoding/json"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow"
)

// ToolInput names a tool in the path. It is exported because huma ignores
// embedded structs that are not.
type ToolInput struct {
	Name string `path:"name" maxLength:"64"`
}

// toolNothing names a tool, for a call without a body.
type toolNothing struct {
	ToolInput
	Body *nothing
}

// ToolDefinition is the definition of a tool. The server itself records who
// defined it, and when. It is exported because huma ignores embedded structs
// that are not.
type ToolDefinition struct {
	Description string              `json:"description,omitempty" maxLength:"2000"`
	Agent       *fermata.AgentTool  `json:"agent,omitempty"`
	Command     []string            `json:"command,omitempty" maxItems:"200" doc:"a program and its arguments, with templates; a worker runs it"`
	Server      *fermata.ToolServer `json:"server,omitempty" doc:"an MCP server; its tools are called name.tool"`
	Schema      json.RawMessage     `json:"schema,omitempty" doc:"JSON Schema that the output must fit"`
	Timeout     string              `json:"timeout,omitempty" maxLength:"20" doc:"how long one call may take, such as 30m"`
	Isolated    bool                `json:"isolated,omitempty" doc:"only a worker that isolates its agents (--isolate) runs it"`
}

func (t *ToolDefinition) named(name string) *fermata.NamedTool {
	return &fermata.NamedTool{
		Name: name, Description: t.Description, Agent: t.Agent, Command: t.Command, Server: t.Server, Schema: t.Schema, Timeout: t.Timeout, Isolated: t.Isolated,
	}
}

// toolDefinitions are several definitions in one call.
type toolDefinitions struct {
	Items []namedDefinition `json:"items" minItems:"1" maxItems:"200"`
}

type namedDefinition struct {
	Name string `json:"name" maxLength:"64"`
	ToolDefinition
}

type toolBody struct {
	ToolInput
	Body ToolDefinition
}

// serverDefinition is the definition of an MCP server.
type serverDefinition struct {
	fermata.ToolServer
	Description string `json:"description,omitempty" maxLength:"2000"`
}

type serverBody struct {
	ToolInput
	Body serverDefinition
}

type namedToolReply = reply[*fermata.NamedTool]

func (s *Server) registerNamedTools() {
	addWorkflow(s, operation("GET /tools", "list-tools", "List every tool that steps of workflows may name"),
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, _ *struct{}) (*reply[page[fermata.ToolInfo]], error) {
			return listOf(w.Tools(ctx, c))
		})
	addWorkflow(s, operation("GET /named-tools", "list-named-tools", "List the tools that the workspace has defined"),
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, _ *struct{}) (*reply[page[*fermata.NamedTool]], error) {
			return listOf(w.NamedTools(ctx, c))
		})
	addWorkflow(s, operation("GET /tools/{name}", "get-named-tool", "Read a tool that the workspace has defined"),
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *ToolInput) (*namedToolReply, error) {
			return replyOf(w.NamedTool(ctx, c, in.Name))
		})
	addWorkflow(s, operation("PUT /tools/{name}", "put-named-tool", "Define a tool: a prompt for an agent, a command, or an MCP server"),
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *toolBody) (*namedToolReply, error) {
			return replyOf(w.PutNamedTool(ctx, c, in.Body.named(in.Name)))
		})
	many := operation("POST /tools", "put-named-tools", "Define several tools: all of them, or none")
	many.Description = "Tools that are not named stay as they are. What is wrong with one is told with its place, as in items[2].schema."
	addWorkflow(s, many,
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *bodyInput[toolDefinitions]) (*reply[page[*fermata.NamedTool]], error) {
			all := make([]*fermata.NamedTool, 0, len(in.Body.Items))
			for _, t := range in.Body.Items {
				all = append(all, t.named(t.Name))
			}
			return listOf(w.PutNamedTools(ctx, c, all))
		})
	addWorkflow(s, operation("DELETE /tools/{name}", "remove-named-tool", "Remove a tool; steps that name it fail from then on"),
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *ToolInput) (*empty, error) {
			return emptyOf(w.DeleteNamedTool(ctx, c, in.Name))
		})
	refresh := operation("POST /tools/{name}/refresh", "refresh-tool", "Ask an MCP server for its tools")
	refresh.Description = "What it says is kept, and is what lists of tools show. One that is down keeps the tools that it listed last, with the error beside them."
	addWorkflow(s, refresh, func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *toolNothing) (*namedToolReply, error) {
		return replyOf(w.RefreshTools(ctx, c, in.Name))
	})
	s.registerToolServers()
}

// registerToolServers registers calls on the MCP servers among the named tools.
func (s *Server) registerToolServers() {
	addWorkflow(s, operation("GET /mcp-servers", "list-mcp-servers", "List the MCP servers whose tools steps may name"),
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, _ *struct{}) (*reply[page[*fermata.NamedTool]], error) {
			all, err := w.NamedTools(ctx, c)
			var servers []*fermata.NamedTool
			for _, t := range all {
				if t.Server != nil {
					servers = append(servers, t)
				}
			}
			return listOf(servers, err)
		})
	addWorkflow(s, operation("GET /mcp-servers/{name}", "get-mcp-server", "Read an MCP server"),
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *ToolInput) (*namedToolReply, error) {
			return replyOf(findToolServer(ctx, w, c, in.Name))
		})
	addWorkflow(s, operation("PUT /mcp-servers/{name}", "put-mcp-server", "Define an MCP server; its tools are called name.tool"),
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *serverBody) (*namedToolReply, error) {
			server := in.Body.ToolServer
			return replyOf(w.PutNamedTool(ctx, c, &fermata.NamedTool{Name: in.Name, Description: in.Body.Description, Server: &server}))
		})
	addWorkflow(s, operation("DELETE /mcp-servers/{name}", "remove-mcp-server", "Remove an MCP server"),
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *ToolInput) (*empty, error) {
			if _, err := findToolServer(ctx, w, c, in.Name); err != nil {
				return nil, err
			}
			return emptyOf(w.DeleteNamedTool(ctx, c, in.Name))
		})
}

func findToolServer(ctx context.Context, w *workflow.Service, c fermata.Caller, name string) (*fermata.NamedTool, error) {
	t, err := w.NamedTool(ctx, c, name)
	if err == nil && t.Server == nil {
		return nil, fermata.NotFound("MCP server", name)
	}
	return t, err
}

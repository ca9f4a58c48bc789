package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/fermata-hq/fermata"
)

// WorkflowCheck is what the server finds wrong with a definition.
type WorkflowCheck struct {
	// Name is that of the file; empty where the definition cannot run.
	Name string `json:"name,omitempty"`
	// Valid says that the definition can run; there may be warnings.
	Valid    bool                        `json:"valid"`
	Problems []fermata.DefinitionProblem `json:"problems"`
	Graph    *fermata.WorkflowGraph      `json:"graph,omitempty"`
}

// Definition is a workflow to store.
type Definition struct {
	// Source is the definition as YAML.
	Source string `json:"source"`
	// Enabled says whether triggers start runs; nil leaves it as it is, and
	// enables a workflow that is new.
	Enabled *bool `json:"enabled,omitempty"`
}

// ToolDefinition is a tool of the workspace to define. Who defined it, and when,
// is the server's to say.
type ToolDefinition struct {
	Description string `json:"description,omitempty"`
	// Agent, Command and Server: exactly one of them is set.
	Agent   *fermata.AgentTool  `json:"agent,omitempty"`
	Command []string            `json:"command,omitempty"`
	Server  *fermata.ToolServer `json:"server,omitempty"`
	// Schema is the JSON Schema that the output must fit.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Timeout is how long one call may take, such as 30m.
	Timeout string `json:"timeout,omitempty"`
	// Isolated says that only a worker which isolates its agents may run the tool.
	Isolated bool `json:"isolated,omitempty"`
}

// Named returns the tool under a name.
func (d ToolDefinition) Named(name string) *fermata.NamedTool {
	return &fermata.NamedTool{
		Name: name, Description: d.Description, Agent: d.Agent, Command: d.Command, Server: d.Server, Schema: d.Schema, Timeout: d.Timeout, Isolated: d.Isolated,
	}
}

// NamedDefinition is a tool to define and its name.
type NamedDefinition struct {
	Name string `json:"name"`
	ToolDefinition
}

// WorkflowRunQuery narrows a list of runs. Empty fields narrow nothing.
type WorkflowRunQuery struct {
	Workflow string
	State    []fermata.TaskState
	Trigger  fermata.TriggerType
	Project  string
	// Limit is the length of a page; 0 leaves it to the server.
	Limit int
	// Cursor is where the last page ended.
	Cursor string
}

func (q WorkflowRunQuery) values() url.Values {
	v := values{}
	v.text("workflow", q.Workflow)
	v.list("state", texts(q.State))
	v.text("trigger", string(q.Trigger))
	v.text("project", q.Project)
	v.number("limit", int64(q.Limit))
	v.text("cursor", q.Cursor)
	return url.Values(v)
}

// CheckWorkflow lists everything that is wrong with a definition. It stores
// nothing.
func (c *Client) CheckWorkflow(ctx context.Context, source string) (*WorkflowCheck, error) {
	return post[*WorkflowCheck](ctx, c, path("workflows", "validate"), map[string]string{"source": source})
}

// PutWorkflow stores a definition under its name. Runs that are under way stay
// with the definition that they began with.
func (c *Client) PutWorkflow(ctx context.Context, name string, d Definition) (*fermata.Workflow, error) {
	return do[*fermata.Workflow](ctx, c, call{method: http.MethodPut, path: path("workflows", name), body: d})
}

// EnableWorkflow lets triggers start runs of a workflow. What happened before
// starts nothing.
func (c *Client) EnableWorkflow(ctx context.Context, name string) (*fermata.Workflow, error) {
	return post[*fermata.Workflow](ctx, c, path("workflows", name, "enable"), struct{}{})
}

// DisableWorkflow lets no trigger start a run any more. Runs that are under way
// go on.
func (c *Client) DisableWorkflow(ctx context.Context, name string) (*fermata.Workflow, error) {
	return post[*fermata.Workflow](ctx, c, path("workflows", name, "disable"), struct{}{})
}

// Workflows lists the workflows, each with its newest run.
func (c *Client) Workflows(ctx context.Context) ([]*fermata.Workflow, error) {
	p, err := get[page[*fermata.Workflow]](ctx, c, path("workflows"), nil)
	return p.Items, err
}

// Workflow reads a workflow with its source and its graph: as it is, or as it
// was with a hash.
func (c *Client) Workflow(ctx context.Context, name, hash string) (*fermata.Workflow, error) {
	v := values{}
	v.text("hash", hash)
	return get[*fermata.Workflow](ctx, c, path("workflows", name), url.Values(v))
}

// RemoveWorkflow removes a workflow. Its runs stay, and end by themselves.
func (c *Client) RemoveWorkflow(ctx context.Context, name string) error {
	return c.run(ctx, call{method: http.MethodDelete, path: path("workflows", name)})
}

// NewWebhookSecret makes the secret that signs requests to a workflow's
// webhook. An earlier one is void; this reply is the only one that holds it.
func (c *Client) NewWebhookSecret(ctx context.Context, name string) (string, error) {
	reply, err := post[struct {
		Secret string `json:"secret"`
	}](ctx, c, path("workflows", name, "webhook-secret"), struct{}{})
	return reply.Secret, err
}

// StartWorkflow starts a run.
func (c *Client) StartWorkflow(ctx context.Context, name string, inputs map[string]any) (*fermata.WorkflowRun, error) {
	body := struct {
		Inputs map[string]any `json:"inputs,omitempty"`
	}{inputs}
	return post[*fermata.WorkflowRun](ctx, c, path("workflows", name, "runs"), body)
}

// WorkflowRuns returns a page of runs, the newest first, and the cursor of the
// next one, "" at the end.
func (c *Client) WorkflowRuns(ctx context.Context, q WorkflowRunQuery) ([]*fermata.WorkflowRun, string, error) {
	p, err := get[page[*fermata.WorkflowRun]](ctx, c, path("workflow-runs"), q.values())
	return p.Items, p.NextCursor, err
}

// WorkflowRun reads a run with its steps, its graph and the question that it
// waits for. The id may be a unique ending.
func (c *Client) WorkflowRun(ctx context.Context, id string) (*fermata.WorkflowRun, error) {
	return get[*fermata.WorkflowRun](ctx, c, path("workflow-runs", id), nil)
}

// RetryWorkflowRun lets a run that failed go on with the step that failed, as
// it was, or with another input of that step.
func (c *Client) RetryWorkflowRun(ctx context.Context, id string, input json.RawMessage) (*fermata.WorkflowRun, error) {
	body := struct {
		Input json.RawMessage `json:"input,omitempty"`
	}{input}
	return post[*fermata.WorkflowRun](ctx, c, path("workflow-runs", id, "retry"), body)
}

// RewindWorkflowRun sends a run back to a step that it has begun, also a run that has ended.
func (c *Client) RewindWorkflowRun(ctx context.Context, id string, to fermata.RunRewind) (*fermata.WorkflowRun, error) {
	return post[*fermata.WorkflowRun](ctx, c, path("workflow-runs", id, "rewind"), to)
}

// MoveWorkflowRun lets a run go on with the newest definition of its workflow. The steps that it has begun must be the same there,
// except for those that it will do again.
func (c *Client) MoveWorkflowRun(ctx context.Context, id string) (*fermata.WorkflowRun, error) {
	return post[*fermata.WorkflowRun](ctx, c, path("workflow-runs", id, "move"), nil)
}

// Tools lists every tool that steps of workflows may name.
func (c *Client) Tools(ctx context.Context) ([]fermata.ToolInfo, error) {
	p, err := get[page[fermata.ToolInfo]](ctx, c, path("tools"), nil)
	return p.Items, err
}

// NamedTools lists the tools that the workspace has defined.
func (c *Client) NamedTools(ctx context.Context) ([]*fermata.NamedTool, error) {
	p, err := get[page[*fermata.NamedTool]](ctx, c, path("named-tools"), nil)
	return p.Items, err
}

// NamedTool reads a tool that the workspace has defined.
func (c *Client) NamedTool(ctx context.Context, name string) (*fermata.NamedTool, error) {
	return get[*fermata.NamedTool](ctx, c, path("tools", name), nil)
}

// PutNamedTool defines a tool under its name.
func (c *Client) PutNamedTool(ctx context.Context, name string, d ToolDefinition) (*fermata.NamedTool, error) {
	return do[*fermata.NamedTool](ctx, c, call{method: http.MethodPut, path: path("tools", name), body: d})
}

// PutNamedTools defines tools under their names: all of them, or none. Fields of
// an error name the place, as in items[2].schema.
func (c *Client) PutNamedTools(ctx context.Context, all []NamedDefinition) ([]*fermata.NamedTool, error) {
	body := struct {
		Items []NamedDefinition `json:"items"`
	}{all}
	p, err := post[page[*fermata.NamedTool]](ctx, c, path("tools"), body)
	return p.Items, err
}

// RefreshTools asks an MCP server for its tools, and returns it with what it said.
func (c *Client) RefreshTools(ctx context.Context, name string) (*fermata.NamedTool, error) {
	return post[*fermata.NamedTool](ctx, c, path("tools", name, "refresh"), struct{}{})
}

// RemoveNamedTool removes a tool that the workspace has defined.
func (c *Client) RemoveNamedTool(ctx context.Context, name string) error {
	return c.run(ctx, call{method: http.MethodDelete, path: path("tools", name)})
}

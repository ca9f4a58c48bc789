package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/fermata-hq/fermata"
)

// Definition is a workflow to store.
type Definition struct {
	// Source is the definition as YAML.
	Source string `json:"source"`
	// Enabled reports whether triggers start runs. If it is nil, an existing workflow stays as it is, and a new one is
	// enabled.
	Enabled *bool `json:"enabled,omitempty"`
}

// ToolDefinition is the definition of a tool of the workspace. The server adds its author and its time.
type ToolDefinition struct {
	Description string `json:"description,omitempty"`
	// Agent, Command and Server are the kinds of tool. Exactly one of them must be set.
	Agent   *fermata.AgentTool  `json:"agent,omitempty"`
	Command []string            `json:"command,omitempty"`
	Server  *fermata.ToolServer `json:"server,omitempty"`
	// Schema is the JSON Schema of the output.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Timeout is the longest time of one call, such as 30m.
	Timeout string `json:"timeout,omitempty"`
	// Isolated reports whether only a worker that isolates its agents may run the tool.
	Isolated bool `json:"isolated,omitempty"`
}

// NamedTool returns the definition as a tool with the name.
func (d ToolDefinition) NamedTool(name string) *fermata.NamedTool {
	return &fermata.NamedTool{
		Name: name, Description: d.Description, Agent: d.Agent, Command: d.Command, Server: d.Server, Schema: d.Schema, Timeout: d.Timeout, Isolated: d.Isolated,
	}
}

// NamedDefinition is the definition of a tool with its name.
type NamedDefinition struct {
	Name string `json:"name"`
	ToolDefinition
}

// WorkflowRunQuery filters a list of workflow runs. An empty field does not filter.
type WorkflowRunQuery struct {
	Workflow string
	State    []fermata.TaskState
	Trigger  fermata.TriggerType
	Project  string
	// Limit is the size of a page. The server chooses it if it is 0.
	Limit int
	// Cursor is the cursor that the previous page returned.
	Cursor string
}

func (q WorkflowRunQuery) values() url.Values {
	v := values{}
	v.setText("workflow", q.Workflow)
	v.setList("state", toStrings(q.State))
	v.setText("trigger", string(q.Trigger))
	v.setText("project", q.Project)
	v.setNumber("limit", int64(q.Limit))
	v.setText("cursor", q.Cursor)
	return url.Values(v)
}

// CheckWorkflow returns all problems of a definition. It stores nothing.
func (c *Client) CheckWorkflow(ctx context.Context, source string) (*fermata.WorkflowCheck, error) {
	return post[*fermata.WorkflowCheck](ctx, c, path("workflows", "validate"), map[string]string{"source": source})
}

// PutWorkflow stores a definition under its name. Runs that have begun keep the definition that they began with.
func (c *Client) PutWorkflow(ctx context.Context, name string, d Definition) (*fermata.Workflow, error) {
	return do[*fermata.Workflow](ctx, c, call{method: http.MethodPut, path: path("workflows", name), body: d})
}

// EnableWorkflow allows triggers to start runs of a workflow. Earlier events start nothing.
func (c *Client) EnableWorkflow(ctx context.Context, name string) (*fermata.Workflow, error) {
	return post[*fermata.Workflow](ctx, c, path("workflows", name, "enable"), struct{}{})
}

// DisableWorkflow stops triggers from starting runs of a workflow. Runs that have begun continue.
func (c *Client) DisableWorkflow(ctx context.Context, name string) (*fermata.Workflow, error) {
	return post[*fermata.Workflow](ctx, c, path("workflows", name, "disable"), struct{}{})
}

// Workflows returns the workflows, each with its newest run.
func (c *Client) Workflows(ctx context.Context) ([]*fermata.Workflow, error) {
	p, err := get[page[*fermata.Workflow]](ctx, c, path("workflows"), nil)
	return p.Items, err
}

// Workflow returns a workflow with its source and its graph. An empty hash is the newest definition; another hash is
// the definition that had it.
func (c *Client) Workflow(ctx context.Context, name, hash string) (*fermata.Workflow, error) {
	v := values{}
	v.setText("hash", hash)
	return get[*fermata.Workflow](ctx, c, path("workflows", name), url.Values(v))
}

// RemoveWorkflow removes a workflow. Its runs stay, and continue to their end.
func (c *Client) RemoveWorkflow(ctx context.Context, name string) error {
	return c.sendOnly(ctx, call{method: http.MethodDelete, path: path("workflows", name)})
}

// NewWebhookSecret creates the secret that signs requests to a workflow's webhook, and revokes the earlier one. Only
// this reply holds the secret.
func (c *Client) NewWebhookSecret(ctx context.Context, name string) (string, error) {
	reply, err := post[struct {
		Secret string `json:"secret"`
	}](ctx, c, path("workflows", name, "webhook-secret"), struct{}{})
	return reply.Secret, err
}

// StartWorkflow starts a run of a workflow.
func (c *Client) StartWorkflow(ctx context.Context, name string, inputs map[string]any) (*fermata.WorkflowRun, error) {
	body := struct {
		Inputs map[string]any `json:"inputs,omitempty"`
	}{inputs}
	return post[*fermata.WorkflowRun](ctx, c, path("workflows", name, "runs"), body)
}

// WorkflowRuns returns a page of workflow runs, newest first, and the cursor of the next page, which is "" at the end.
func (c *Client) WorkflowRuns(ctx context.Context, q WorkflowRunQuery) ([]*fermata.WorkflowRun, string, error) {
	p, err := get[page[*fermata.WorkflowRun]](ctx, c, path("workflow-runs"), q.values())
	return p.Items, p.NextCursor, err
}

// WorkflowRun returns a run with its steps, its graph and the question that it waits for. The id may be shortened to
// an ending that is unique.
func (c *Client) WorkflowRun(ctx context.Context, id string) (*fermata.WorkflowRun, error) {
	return get[*fermata.WorkflowRun](ctx, c, path("workflow-runs", id), nil)
}

// RetryWorkflowRun makes a failed run continue with the step that failed. A non-empty input replaces the input of that
// step.
func (c *Client) RetryWorkflowRun(ctx context.Context, id string, input json.RawMessage) (*fermata.WorkflowRun, error) {
	body := struct {
		Input json.RawMessage `json:"input,omitempty"`
	}{input}
	return post[*fermata.WorkflowRun](ctx, c, path("workflow-runs", id, "retry"), body)
}

// RewindWorkflowRun sends a run back to a step that it has begun. The run may have ended.
func (c *Client) RewindWorkflowRun(ctx context.Context, id string, to fermata.RunRewind) (*fermata.WorkflowRun, error) {
	return post[*fermata.WorkflowRun](ctx, c, path("workflow-runs", id, "rewind"), to)
}

// MoveWorkflowRun makes a run continue with the newest definition of its workflow. The steps that the run has begun
// must be the same there, except for the steps that it will repeat.
func (c *Client) MoveWorkflowRun(ctx context.Context, id string) (*fermata.WorkflowRun, error) {
	return post[*fermata.WorkflowRun](ctx, c, path("workflow-runs", id, "move"), nil)
}

// Tools returns every tool that a step of a workflow may name.
func (c *Client) Tools(ctx context.Context) ([]fermata.ToolInfo, error) {
	p, err := get[page[fermata.ToolInfo]](ctx, c, path("tools"), nil)
	return p.Items, err
}

// NamedTools returns the tools that the workspace has defined.
func (c *Client) NamedTools(ctx context.Context) ([]*fermata.NamedTool, error) {
	p, err := get[page[*fermata.NamedTool]](ctx, c, path("named-tools"), nil)
	return p.Items, err
}

// NamedTool returns a tool that the workspace has defined.
func (c *Client) NamedTool(ctx context.Context, name string) (*fermata.NamedTool, error) {
	return get[*fermata.NamedTool](ctx, c, path("tools", name), nil)
}

// PutNamedTool defines a tool under its name.
func (c *Client) PutNamedTool(ctx context.Context, name string, d ToolDefinition) (*fermata.NamedTool, error) {
	return do[*fermata.NamedTool](ctx, c, call{method: http.MethodPut, path: path("tools", name), body: d})
}

// PutNamedTools defines tools under their names: all of them, or none. An error names the place of each fault, such as
// items[2].schema.
func (c *Client) PutNamedTools(ctx context.Context, all []NamedDefinition) ([]*fermata.NamedTool, error) {
	body := struct {
		Items []NamedDefinition `json:"items"`
	}{all}
	p, err := post[page[*fermata.NamedTool]](ctx, c, path("tools"), body)
	return p.Items, err
}

// RefreshTools asks an MCP server for its tools, and returns the tool with the server's reply.
func (c *Client) RefreshTools(ctx context.Context, name string) (*fermata.NamedTool, error) {
	return post[*fermata.NamedTool](ctx, c, path("tools", name, "refresh"), struct{}{})
}

// RemoveNamedTool removes a tool that the workspace has defined.
func (c *Client) RemoveNamedTool(ctx context.Context, name string) error {
	return c.sendOnly(ctx, call{method: http.MethodDelete, path: path("tools", name)})
}

package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/fermata-hq/fermata"
)

// TaskQuery narrows a list of tasks. Empty fields narrow nothing.
type TaskQuery struct {
	State   []fermata.TaskState
	Project string
	Label   string
	// Agent is the role that the tasks are for.
	Agent    string
	ParentID string
	// Q is looked for in titles.
	Q string
	// NeedsPerson keeps the tasks that are suspended on a person.
	NeedsPerson bool
	// Sort is the order; empty is the newest first.
	Sort fermata.TaskSort
	// Limit is the length of a page; 0 leaves it to the server.
	Limit int
	// Cursor is where the last page ended.
	Cursor string
}

func (q TaskQuery) values() url.Values {
	v := values{}
	v.list("state", texts(q.State))
	v.text("project", q.Project)
	v.text("label", q.Label)
	v.text("agent", q.Agent)
	v.text("parent", q.ParentID)
	v.text("q", q.Q)
	v.flag("needs_person", q.NeedsPerson)
	v.text("sort", string(q.Sort))
	v.number("limit", int64(q.Limit))
	v.text("cursor", q.Cursor)
	return url.Values(v)
}

// CreateTask makes a task.
func (c *Client) CreateTask(ctx context.Context, n fermata.NewTask) (*fermata.Task, error) {
	return post[*fermata.Task](ctx, c, path("tasks"), n)
}

// Task reads a task with its pending question. The id may be a unique ending.
func (c *Client) Task(ctx context.Context, id string) (*fermata.Task, error) {
	return get[*fermata.Task](ctx, c, path("tasks", id), nil)
}

// Tasks returns a page of tasks and the cursor of the next one, "" at the end.
func (c *Client) Tasks(ctx context.Context, q TaskQuery) ([]*fermata.Task, string, error) {
	p, err := get[page[*fermata.Task]](ctx, c, path("tasks"), q.values())
	return p.Items, p.NextCursor, err
}

// TaskCounts counts the tasks of the query by state and by column of a board.
// Its order and its page do not matter.
func (c *Client) TaskCounts(ctx context.Context, q TaskQuery) (fermata.TaskCounts, error) {
	q.Sort, q.Limit, q.Cursor = "", 0, ""
	return get[fermata.TaskCounts](ctx, c, path("tasks", "counts"), q.values())
}

// Timeline returns the last part of what happened to a task, oldest first, and
// the cursor of the part before it, "" at the beginning.
func (c *Client) Timeline(ctx context.Context, id, cursor string, limit int) (fermata.Timeline, string, error) {
	v := values{}
	v.text("cursor", cursor)
	v.number("limit", int64(limit))
	p, err := get[page[*fermata.TimelineEntry]](ctx, c, path("tasks", id, "timeline"), url.Values(v))
	return p.Items, p.NextCursor, err
}

// Tree returns the task and all below it, parents first.
func (c *Client) Tree(ctx context.Context, id string) ([]*fermata.Task, error) {
	p, err := get[page[*fermata.Task]](ctx, c, path("tasks", id, "tree"), nil)
	return p.Items, err
}

// UpdateTask changes the fields that the patch names.
func (c *Client) UpdateTask(ctx context.Context, id string, patch fermata.TaskPatch) (*fermata.Task, error) {
	return do[*fermata.Task](ctx, c, call{method: http.MethodPatch, path: path("tasks", id), body: patch})
}

// CancelTask ends a task, and those below it, without a result.
func (c *Client) CancelTask(ctx context.Context, id, reason string) (*fermata.Task, error) {
	return post[*fermata.Task](ctx, c, path("tasks", id, "cancel"), because{reason})
}

// DeferTask puts a task off until an instant, or until someone resumes it.
func (c *Client) DeferTask(ctx context.Context, id string, until *time.Time) (*fermata.Task, error) {
	body := struct {
		Until *time.Time `json:"until,omitempty"`
	}{until}
	return post[*fermata.Task](ctx, c, path("tasks", id, "defer"), body)
}

// PauseTask halts a task until a person resumes it. Its session and its working
// copy stay.
func (c *Client) PauseTask(ctx context.Context, id string) (*fermata.Task, error) {
	return post[*fermata.Task](ctx, c, path("tasks", id, "pause"), struct{}{})
}

// ReopenTask opens a task that has ended.
func (c *Client) ReopenTask(ctx context.Context, id string) (*fermata.Task, error) {
	return post[*fermata.Task](ctx, c, path("tasks", id, "reopen"), struct{}{})
}

// ResumeTask lets a suspended, blocked or deferred task go on without waiting. Its
// pending question closes, and the agent decides. The message is for the agent, and may
// be empty.
func (c *Client) ResumeTask(ctx context.Context, id, message string) (*fermata.Task, error) {
	body := struct {
		Message string `json:"message,omitempty"`
	}{message}
	return post[*fermata.Task](ctx, c, path("tasks", id, "resume"), body)
}

// FinishTask ends an external task as completed or failed.
func (c *Client) FinishTask(ctx context.Context, id string, f fermata.Finish) (*fermata.Task, error) {
	return post[*fermata.Task](ctx, c, path("tasks", id, "finish"), f)
}

// Context returns what a run of the task needs to go on.
func (c *Client) Context(ctx context.Context, id string) (*fermata.ResumeContext, error) {
	return get[*fermata.ResumeContext](ctx, c, path("tasks", id, "context"), nil)
}

// Progress reports on a task outside any run.
func (c *Client) Progress(ctx context.Context, taskID string, p fermata.Progress) error {
	return c.run(ctx, call{method: http.MethodPost, path: path("tasks", taskID, "progress"), body: p})
}

// because is the body of a cancellation.
type because struct {
	Reason string `json:"reason,omitempty"`
}

package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/fermata-hq/fermata"
)

// TaskQuery filters a list of tasks. An empty field does not filter.
type TaskQuery struct {
	State   []fermata.TaskState
	Project string
	Label   string
	// Agent is the role that the tasks are for.
	Agent    string
	ParentID string
	// Q is searched for in titles.
	Q string
	// NeedsPerson selects the tasks that are suspended on a person.
	NeedsPerson bool
	// Sort is the order. If it is empty, the newest task comes first.
	Sort fermata.TaskSort
	// Limit is the size of a page. The server chooses it if it is 0.
	Limit int
	// Cursor is the cursor that the previous page returned.
	Cursor string
}

func (q TaskQuery) values() url.Values {
	v := values{}
	v.setList("state", toStrings(q.State))
	v.setText("project", q.Project)
	v.setText("label", q.Label)
	v.setText("agent", q.Agent)
	v.setText("parent", q.ParentID)
	v.setText("q", q.Q)
	v.setFlag("needs_person", q.NeedsPerson)
	v.setText("sort", string(q.Sort))
	v.setNumber("limit", int64(q.Limit))
	v.setText("cursor", q.Cursor)
	return url.Values(v)
}

// CreateTask creates a task.
func (c *Client) CreateTask(ctx context.Context, n fermata.NewTask) (*fermata.Task, error) {
	return post[*fermata.Task](ctx, c, path("tasks"), n)
}

// Task returns a task with its pending question. The id may be shortened to an ending that is unique.
func (c *Client) Task(ctx context.Context, id string) (*fermata.Task, error) {
	return get[*fermata.Task](ctx, c, path("tasks", id), nil)
}

// Tasks returns a page of tasks and the cursor of the next page, which is "" at the end.
func (c *Client) Tasks(ctx context.Context, q TaskQuery) ([]*fermata.Task, string, error) {
	p, err := get[page[*fermata.Task]](ctx, c, path("tasks"), q.values())
	return p.Items, p.NextCursor, err
}

// TaskCounts counts the tasks of the query by state and by column of the board. It ignores the query's order and page.
func (c *Client) TaskCounts(ctx context.Context, q TaskQuery) (fermata.TaskCounts, error) {
	q.Sort, q.Limit, q.Cursor = "", 0, ""
	return get[fermata.TaskCounts](ctx, c, path("tasks", "counts"), q.values())
}

// Timeline returns a page of a task's timeline, oldest entry first, and the cursor of the page before it, which is ""
// at the beginning. Without a cursor, the page is the last one.
func (c *Client) Timeline(ctx context.Context, id, cursor string, limit int) (fermata.Timeline, string, error) {
	v := values{}
	v.setText("cursor", cursor)
	v.setNumber("limit", int64(limit))
	p, err := get[page[*fermata.TimelineEntry]](ctx, c, path("tasks", id, "timeline"), url.Values(v))
	return p.Items, p.NextCursor, err
}

// Tree returns the task and all tasks below it, parents first.
func (c *Client) Tree(ctx context.Context, id string) ([]*fermata.Task, error) {
	p, err := get[page[*fermata.Task]](ctx, c, path("tasks", id, "tree"), nil)
	return p.Items, err
}

// UpdateTask changes the fields that the patch names.
func (c *Client) UpdateTask(ctx context.Context, id string, patch fermata.TaskPatch) (*fermata.Task, error) {
	return do[*fermata.Task](ctx, c, call{method: http.MethodPatch, path: path("tasks", id), body: patch})
}

// CancelTask ends a task and the tasks below it, without a result.
func (c *Client) CancelTask(ctx context.Context, id, reason string) (*fermata.Task, error) {
	return post[*fermata.Task](ctx, c, path("tasks", id, "cancel"), reasonBody{reason})
}

// DeferTask makes a task wait until an instant, or until a person resumes it if until is nil.
func (c *Client) DeferTask(ctx context.Context, id string, until *time.Time) (*fermata.Task, error) {
	body := struct {
		Until *time.Time `json:"until,omitempty"`
	}{until}
	return post[*fermata.Task](ctx, c, path("tasks", id, "defer"), body)
}

// PauseTask stops a task until a person resumes it. Its session and its working copy stay.
func (c *Client) PauseTask(ctx context.Context, id string) (*fermata.Task, error) {
	return post[*fermata.Task](ctx, c, path("tasks", id, "pause"), struct{}{})
}

// ReopenTask makes a task that has ended continue.
func (c *Client) ReopenTask(ctx context.Context, id string) (*fermata.Task, error) {
	return post[*fermata.Task](ctx, c, path("tasks", id, "reopen"), struct{}{})
}

// ResumeTask makes a suspended, blocked or deferred task continue at once. Its pending question closes, and the agent
// decides. The message goes to the agent, and may be empty.
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

// ResumeContext returns the resume context of the task: what a run needs to continue.
func (c *Client) ResumeContext(ctx context.Context, id string) (*fermata.ResumeContext, error) {
	return get[*fermata.ResumeContext](ctx, c, path("tasks", id, "context"), nil)
}

// ReportProgress reports on a task outside any run.
func (c *Client) ReportProgress(ctx context.Context, taskID string, p fermata.Progress) error {
	return c.sendOnly(ctx, call{method: http.MethodPost, path: path("tasks", taskID, "progress"), body: p})
}

// reasonBody is the body of a request with a reason.
type reasonBody struct {
	Reason string `json:"reason,omitempty"`
}

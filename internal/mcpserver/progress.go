package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
)

type progressInput struct {
	Message string  `json:"message"`
	Step    string  `json:"step"`
	Current float64 `json:"current"`
	Total   float64 `json:"total"`

	TaskID  string `json:"task_id"`
	Project string `json:"project"`
}

type progressResult struct {
	Status string `json:"status"`
	TaskID string `json:"task_id"`
}

func (s *Server) reportProgress(ctx context.Context, c *call) (*mcp.CallToolResult, error) {
	var in progressInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	c.setTask(in.TaskID, in.Project)
	p := fermata.Progress{Message: in.Message, Step: in.Step, Current: in.Current, Total: in.Total}
	if err := p.Check(); err != nil {
		return nil, err
	}
	task, err := c.findOrCreateTask(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.backend.ReportProgress(ctx, task, p); err != nil {
		return nil, err
	}
	return reply(progressResult{Status: "reported", TaskID: task})
}

// findOrCreateTask returns the task of the call: the one that the call names, else the
// task of the session. That task is created if it does not exist.
func (c *call) findOrCreateTask(ctx context.Context) (string, error) {
	if c.task != "" {
		return c.task, nil
	}
	if c.session == "" {
		return "", fermata.Invalid(fermata.Problem{Field: "task_id", Message: "must not be empty: this connection has neither a task nor a session"}).
			WithHint("give task_id, or send the header " + TaskHeader + " or " + SessionHeader)
	}
	title := "Session of an agent"
	if who := c.ClientInfo(); who != nil && who.Name != "" {
		title = fermata.Truncate("Session of "+who.Name, fermata.MaxTaskTitle)
	}
	t, err := c.backend.CreateTask(ctx, fermata.NewTask{
		Title: title, Project: c.project, Runner: fermata.RunnerExternal, SessionKey: c.session,
	})
	if err != nil {
		return "", err
	}
	return t.ID, nil
}

package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
)

// askInput is what ask_user takes: a request in any of its forms.
type askInput struct {
	fermata.Ask

	TaskID      string `json:"task_id"`
	Project     string `json:"project"`
	WaitSeconds int    `json:"wait_seconds"`
	// Fields of AskUserQuestion that its host fills in; they ask nothing.
	Answers     json.RawMessage `json:"answers"`
	Annotations json.RawMessage `json:"annotations"`
}

func (s *Server) askUser(ctx context.Context, c *call) (*mcp.CallToolResult, error) {
	var in askInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	wait, err := waitOf(in.WaitSeconds)
	if err != nil {
		return nil, err
	}
	c.place(in.TaskID, in.Project)
	q, err := c.ask(ctx, in.Ask)
	if err != nil {
		return nil, err
	}
	if q, err = s.wait(ctx, c, q, wait); err != nil {
		return nil, err
	}
	return reply(stateOf(q))
}

// place lets the arguments say where the question belongs.
func (c *call) place(task, project string) {
	if task != "" {
		c.task = task
	}
	if project != "" {
		c.project = project
	}
}

// ask asks in the task, or outside any. A repeated call finds its question.
func (c *call) ask(ctx context.Context, a fermata.Ask) (*fermata.Question, error) {
	if a.IdempotencyKey == "" {
		a.IdempotencyKey = c.id
	}
	if c.task != "" {
		return c.desk.Ask(ctx, c.task, a)
	}
	return c.desk.AskOutside(ctx, c.project, c.session, a)
}

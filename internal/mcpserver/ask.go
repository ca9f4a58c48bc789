package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/posting"
)

// askInput is a question in any form that agents write, with the place where it
// belongs.
type askInput struct {
	posting.Form

	Placement
	hostFields
}

func (in *askInput) request() (fermata.Ask, error) { return checkApproval(in.Request()) }

// checkApproval refuses an approval without an action. Otherwise the agent
// alone would decide what the person agreed to.
func checkApproval(a fermata.Ask, err error) (fermata.Ask, error) {
	approves := a.Type == fermata.Approval || a.ResponseType == fermata.ResponseApproval
	if err == nil && approves && (len(a.Action) == 0 || string(a.Action) == "null") {
		err = fermata.Invalid(fermata.Problem{Field: "type", Message: "an approval needs the action that will run"}).
			WithHint("use request_approval with the tool and its arguments, or with the command; ask for a choice where nothing runs")
	}
	return a, err
}

// hostFields are fields of AskUserQuestion that the host fills in. They are
// ignored.
type hostFields struct {
	Answers     json.RawMessage `json:"answers"`
	Annotations json.RawMessage `json:"annotations"`
}

// Placement says where a question belongs, and how long the call waits for its
// answer.
type Placement struct {
	TaskID      string `json:"task_id"`
	Project     string `json:"project"`
	WaitSeconds int    `json:"wait_seconds"`
}

func (p *Placement) placement() *Placement { return p }

// request is the input of a tool that asks.
type request interface {
	request() (fermata.Ask, error)
	placement() *Placement
}

func (s *Server) askUser(ctx context.Context, c *call) (*mcp.CallToolResult, error) {
	return s.askAndWait(ctx, c, &askInput{})
}

// askAndWait decodes the input, asks the question, waits as long as the input
// says, and returns the state of the question.
func (s *Server) askAndWait(ctx context.Context, c *call, in request) (*mcp.CallToolResult, error) {
	if err := c.decode(in); err != nil {
		return nil, err
	}
	at := in.placement()
	wait, err := parseWait(at.WaitSeconds)
	if err != nil {
		return nil, err
	}
	a, err := in.request()
	if err != nil {
		return nil, err
	}
	a = a.WithOwnAnswers()
	c.setTask(at.TaskID, at.Project)
	q, err := c.ask(ctx, a)
	if err != nil {
		return nil, err
	}
	q, form, err := s.wait(ctx, c, q, wait)
	if form != nil || err != nil {
		return form, err
	}
	return c.replyState(ctx, q)
}

// setTask sets the task and the project from the arguments.
func (c *call) setTask(task, project string) {
	if task != "" && task != c.task {
		c.task, c.runID = task, ""
	}
	if project != "" {
		c.project = project
	}
}

// ask asks in the task, or outside any task. A repeated call returns the same
// question.
func (c *call) ask(ctx context.Context, a fermata.Ask) (*fermata.Question, error) {
	if c.Params.RequestState != "" && c.backend.IsPerson(ctx) {
		// The client repeats the call after it has shown the form.
		return c.backend.Question(ctx, c.Params.RequestState)
	}
	if a.IdempotencyKey == "" {
		a.IdempotencyKey = c.key
	}
	if c.task != "" {
		a.RunID = c.runID
		return c.backend.Ask(ctx, c.task, a)
	}
	return c.backend.AskOutside(ctx, c.project, c.session, a)
}

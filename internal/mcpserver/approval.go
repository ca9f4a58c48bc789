package mcpserver

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
)

// approvalInput is the input of request_approval: an action, and information
// that helps to decide about it.
type approvalInput struct {
	Title     string           `json:"title"`
	Tool      string           `json:"tool"`
	Arguments json.RawMessage  `json:"arguments"`
	Command   string           `json:"command"`
	Reason    string           `json:"reason"`
	Preview   *fermata.Preview `json:"preview"`
	Risk      fermata.Risk     `json:"risk"`
	Assignees []string         `json:"assignees"`
	Required  int              `json:"approvals_required"`
	Timeout   fermata.Timeout  `json:"timeout"`
	Key       string           `json:"idempotency_key"`

	Placement
}

// action is the action that runs after the approval, in the form in which it is
// stored and hashed.
type action struct {
	Tool      string          `json:"tool,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Command   string          `json:"command,omitempty"`
}

func (s *Server) requestApproval(ctx context.Context, c *call) (*mcp.CallToolResult, error) {
	return s.askAndWait(ctx, c, &approvalInput{})
}

func (in *approvalInput) request() (fermata.Ask, error) {
	if in.Tool == "" && in.Command == "" {
		return fermata.Ask{}, fermata.Invalid(fermata.Problem{Field: "tool", Message: "must not be empty: name the tool, or give the command"}).
			WithHint("a person approves exactly one call: the tool with its arguments, or the command as it will run")
	}
	if err := in.checkContradiction(); err != nil {
		return fermata.Ask{}, err
	}
	raw, err := json.Marshal(action{Tool: in.Tool, Arguments: in.Arguments, Command: in.Command})
	if err != nil {
		return fermata.Ask{}, fermata.Errorf(fermata.CodeInvalidRequest, "arguments: is not valid JSON")
	}
	a := fermata.Ask{
		Type: fermata.Approval, Title: in.Title, Body: in.Reason, Action: raw, Risk: in.Risk, Assignees: in.Assignees,
		Timeout: in.Timeout, IdempotencyKey: in.Key,
	}
	if a.Title == "" {
		name := in.Tool
		if name == "" {
			name = "this command"
		}
		a.Title = fermata.Truncate("Allow "+name+"?", fermata.MaxTitle)
	}
	if in.Preview != nil {
		a.Context = &fermata.QuestionContext{Preview: in.Preview}
	}
	if in.Required != 0 {
		a.Approvals = &fermata.Quorum{Required: in.Required}
	}
	return a, nil
}

// checkContradiction refuses an approval that shows two different things to run. A
// person might read one and approve the other.
func (in *approvalInput) checkContradiction() error {
	hint := "give the tool with its arguments, or the command alone"
	switch {
	case in.Command != "" && in.Tool != "":
		return fermata.Invalid(fermata.Problem{Field: "command", Message: "cannot stand beside tool: a person approves exactly one call"}).WithHint("%s", hint)
	case in.Command != "" && len(in.Arguments) > 0 && string(in.Arguments) != "null":
		return fermata.Invalid(fermata.Problem{Field: "arguments", Message: "cannot stand beside command: they belong to a tool"}).WithHint("%s", hint)
	case in.Command != "" && in.Preview != nil && in.Preview.Kind == "command" && strings.TrimSpace(in.Preview.Text) != strings.TrimSpace(in.Command):
		return fermata.Invalid(fermata.Problem{Field: "preview", Message: "shows another command than the one that will run"}).WithHint("leave the preview out: the command is shown")
	default:
		return nil
	}
}

package mcpserver

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
)

type cancelInput struct {
	QuestionID string `json:"question_id"`
	Reason     string `json:"reason"`
}

// cancelResult is the state of a question with its status before it was withdrawn.
// A question that was already closed stays as it was.
type cancelResult struct {
	State
	PreviousStatus fermata.QuestionStatus `json:"previous_status"`
}

func (s *Server) cancelQuestion(ctx context.Context, c *call) (*mcp.CallToolResult, error) {
	var in cancelInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if err := checkNotEmpty("question_id", in.QuestionID); err != nil {
		return nil, err
	}
	before, err := c.backend.Question(ctx, in.QuestionID)
	if err != nil {
		return nil, err
	}
	if before.Status != fermata.Pending {
		return c.replyAlreadyClosed(before)
	}
	after, err := c.backend.CancelQuestion(ctx, before.ID, in.Reason)
	var e *fermata.Error
	if errors.As(err, &e) && e.Code == fermata.CodeQuestionClosed && e.Question != nil {
		return c.replyAlreadyClosed(e.Question)
	}
	if err != nil {
		return nil, err
	}
	return reply(cancelResult{State: c.stateOf(after), PreviousStatus: before.Status})
}

func (c *call) replyAlreadyClosed(q *fermata.Question) (*mcp.CallToolResult, error) {
	st := c.stateOf(q)
	st.Message = "The question was closed before; nothing was withdrawn. " + st.Message
	return reply(cancelResult{State: st, PreviousStatus: q.Status})
}

func checkNotEmpty(field, value string) error {
	if value == "" {
		return fermata.Invalid(fermata.Problem{Field: field, Message: "must not be empty"})
	}
	return nil
}

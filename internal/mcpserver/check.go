package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type checkInput struct {
	QuestionID  string `json:"question_id"`
	WaitSeconds int    `json:"wait_seconds"`
}

func (s *Server) checkAnswer(ctx context.Context, c *call) (*mcp.CallToolResult, error) {
	var in checkInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if err := checkNotEmpty("question_id", in.QuestionID); err != nil {
		return nil, err
	}
	wait, err := parseWait(in.WaitSeconds)
	if err != nil {
		return nil, err
	}
	q, err := c.backend.Question(ctx, in.QuestionID)
	if err != nil {
		return nil, err
	}
	q, form, err := s.wait(ctx, c, q, wait)
	if form != nil || err != nil {
		return form, err
	}
	return c.replyState(ctx, q)
}

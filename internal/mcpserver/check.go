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
	wait, err := waitOf(in.WaitSeconds)
	if err != nil {
		return nil, err
	}
	q, err := c.desk.Question(ctx, in.QuestionID)
	if err != nil {
		return nil, err
	}
	if q, err = s.wait(ctx, c, q, wait); err != nil {
		return nil, err
	}
	return reply(stateOf(q))
}

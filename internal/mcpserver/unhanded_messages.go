package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
)

// replyState returns the state of the question, with the messages that people
// wrote meanwhile to the agent of an external task. These messages count as
// handed over from here on. If that cannot be recorded, the agent gets them
// again, so no message of a person is lost.
func (c *call) replyState(ctx context.Context, q *fermata.Question) (*mcp.CallToolResult, error) {
	st := c.stateOf(q)
	messages, err := c.unhandedMessages(ctx, q.TaskID)
	if err != nil {
		return nil, err
	}
	if len(messages) == 0 {
		return reply(st)
	}
	ids := make([]string, 0, len(messages))
	for i := range messages {
		ids = append(ids, messages[i].ID)
	}
	st.Messages = messages
	if q.Status == fermata.Pending {
		st.Message = fermata.MessageAdvice(q)
	}
	if err := c.backend.HandMessages(ctx, q.TaskID, ids); err != nil {
		c.log.WarnContext(ctx, "note that the agent was told", "task", q.TaskID, "error", err)
	}
	return reply(st)
}

// unhandedMessages returns the messages of people that the agent of an external task was
// not handed yet.
func (c *call) unhandedMessages(ctx context.Context, task string) ([]message, error) {
	rc, err := c.backend.ResumeContext(ctx, task)
	if err != nil {
		return nil, err
	}
	var messages []message
	for _, m := range rc.UnheardDeskMessages() {
		messages = append(messages, messageOf(&m))
	}
	return messages, nil
}

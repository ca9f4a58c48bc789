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
	words, err := c.words(ctx, q.TaskID)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return reply(st)
	}
	ids := make([]string, 0, len(words))
	for i := range words {
		ids = append(ids, words[i].ID)
	}
	st.Messages = words
	if q.Status == fermata.Pending {
		st.Message = fermata.WordsAdvice(q)
	}
	if err := c.desk.HandMessages(ctx, q.TaskID, ids); err != nil {
		c.log.WarnContext(ctx, "note that the agent was told", "task", q.TaskID, "error", err)
	}
	return reply(st)
}

// words returns the messages of people that the agent of an external task was
// not handed yet.
func (c *call) words(ctx context.Context, task string) ([]message, error) {
	rc, err := c.desk.Context(ctx, task)
	if err != nil {
		return nil, err
	}
	var words []message
	for _, m := range rc.UnheardAtDesk() {
		words = append(words, messageOf(&m))
	}
	return words, nil
}

package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
)

// replyState tells how the question stands, with what people wrote meanwhile to an agent
// of an external task. Those words count as handed from here on, and not before: where that
// cannot be noted, they are told again, and nothing that people said is held back.
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

// words are what people wrote to the agent of an external task and it was not handed.
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

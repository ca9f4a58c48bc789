package mcpserver

import (
	"context"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/posting"
)

// postInput is the input of post_question.
type postInput struct {
	posting.Input

	Placement
	hostFields
}

// postResult is the state of a question, with the channels on which people are
// notified of it.
type postResult struct {
	State
	// Notified are the channels on which a message goes out at once.
	Notified []string `json:"notified"`
}

// planWait is the longest time for which a reply waits until the deliveries of
// its question are planned.
const planWait = 10 * time.Second

func (s *Server) postQuestion(ctx context.Context, c *call) (*mcp.CallToolResult, error) {
	var in postInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	a, err := checkApproval(in.AskRequest())
	if err != nil {
		return nil, err
	}
	c.setTask(in.TaskID, in.Project)
	q, err := c.ask(ctx, a.WithOwnAnswers())
	if err != nil {
		return nil, in.Explain(err)
	}
	planned, err := c.backend.PlannedDeliveries(ctx, q.ID, planWait)
	if err != nil {
		// The question is asked. Only the channels are not known.
		s.Log.WarnContext(ctx, "read what is sent for a question", "question", q.ID, "error", err)
	}
	return reply(postResult{State: c.stateOf(q), Notified: notifiedChannels(planned)})
}

// notifiedChannels returns the inbox, and the channels whose messages go out at
// once.
func notifiedChannels(planned []*fermata.Delivery) []string {
	var channels []string
	for _, d := range planned {
		sent := d.State == fermata.DeliverySent
		now := d.State == fermata.DeliveryWaiting && d.NextAt != nil && !d.NextAt.After(d.CreatedAt.Add(time.Second))
		if sent || now {
			channels = append(channels, d.Channel)
		}
	}
	return slices.Concat([]string{posting.Inbox}, fermata.SortUnique(channels))
}

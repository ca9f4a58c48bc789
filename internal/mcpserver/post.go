package mcpserver

import (
	"context"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/posting"
)

// postInput is what post_question takes.
type postInput struct {
	posting.Input

	Placement
	hostFields
}

// posted is a question that was asked, and who was told.
type posted struct {
	State
	// Notified are the channels over which a message goes out at once.
	Notified []string `json:"notified"`
}

// planWait is how long a reply waits to learn what is sent for its question.
const planWait = 10 * time.Second

func (s *Server) postQuestion(ctx context.Context, c *call) (*mcp.CallToolResult, error) {
	var in postInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	a, err := checkApproval(in.Ask())
	if err != nil {
		return nil, err
	}
	c.place(in.TaskID, in.Project)
	q, err := c.ask(ctx, a.WithOwnAnswers())
	if err != nil {
		return nil, in.Explain(err)
	}
	planned, err := c.desk.Planned(ctx, q.ID, planWait)
	if err != nil {
		// It is asked; only who is told of it is not known.
		s.Log.WarnContext(ctx, "read what is sent for a question", "question", q.ID, "error", err)
	}
	return reply(posted{State: c.stateOf(q), Notified: notifiedPlaces(planned)})
}

// notifiedPlaces lists where people are told at once: the inbox, and the channels
// whose messages are not for later.
func notifiedPlaces(planned []*fermata.Delivery) []string {
	var channels []string
	for _, d := range planned {
		sent := d.State == fermata.DeliverySent
		now := d.State == fermata.DeliveryWaiting && d.NextAt != nil && !d.NextAt.After(d.CreatedAt.Add(time.Second))
		if sent || now {
			channels = append(channels, d.Channel)
		}
	}
	return slices.Concat([]string{posting.Inbox}, fermata.Distinct(channels))
}

package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
)

// postInput is what post_question takes: a question, and the names that
// workflows use for some of its fields.
type postInput struct {
	askInput

	TimeoutHours    float64               `json:"timeoutHours"`
	TimeoutAction   fermata.TimeoutAction `json:"timeoutAction"`
	DefaultAnswer   any                   `json:"defaultAnswer"`
	IssueNumber     json.Number           `json:"issueNumber"`
	NotifyVia       []string              `json:"notifyVia"`
	SlackChannel    string                `json:"slackChannel"`
	SlackMention    string                `json:"slackMention"`
	EmailRecipients []string              `json:"emailRecipients"`
}

// inbox is where every question is: the one place that needs no set-up.
const inbox = "inbox"

// posted is a question that was asked, and who was told.
type posted struct {
	State
	Notified []string `json:"notified"`
}

func (s *Server) postQuestion(ctx context.Context, c *call) (*mcp.CallToolResult, error) {
	var in postInput
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	a, err := in.request()
	if err != nil {
		return nil, err
	}
	if err := in.rename(&a); err != nil {
		return nil, err
	}
	c.place(in.TaskID, in.Project)
	q, err := c.ask(ctx, a)
	if err != nil {
		return nil, err
	}
	return reply(posted{State: stateOf(q), Notified: []string{inbox}})
}

// rename brings the workflows' names into those of the request, and refuses
// what would be silently ignored.
func (in *postInput) rename(a *fermata.Ask) error {
	if err := in.checkChannels(); err != nil {
		return err
	}
	if in.TimeoutHours != 0 {
		if a.Timeout != "" {
			return twice("timeoutHours", "timeout")
		}
		minutes := math.Round(in.TimeoutHours * time.Hour.Minutes())
		if minutes < 1 || minutes > 1e7 {
			return fermata.Invalid(fermata.Problem{Field: "timeoutHours", Message: "must be above 0, and not above ten years"})
		}
		a.Timeout = fermata.Timeout(fmt.Sprintf("%dm", int(minutes)))
	}
	if in.TimeoutAction != "" {
		if a.OnTimeout != "" {
			return twice("timeoutAction", "on_timeout")
		}
		a.OnTimeout = in.TimeoutAction
	}
	if in.DefaultAnswer != nil {
		if a.Default != nil {
			return twice("defaultAnswer", "default")
		}
		a.Default = typed(in.DefaultAnswer, a.ResponseType)
	}
	if in.IssueNumber != "" {
		n, err := strconv.Atoi(in.IssueNumber.String())
		if err != nil || n < 1 {
			return fermata.Invalid(fermata.Problem{Field: "issueNumber", Message: "must be the number of an issue"})
		}
		metadata := map[string]string{"issue_number": strconv.Itoa(n)}
		for k, v := range a.Metadata {
			metadata[k] = v
		}
		a.Metadata = metadata
	}
	return nil
}

func twice(a, b string) error {
	return fermata.Invalid(fermata.Problem{Field: a, Message: "says the same as " + b + "; give one of them"})
}

// checkChannels refuses places that this server cannot reach: an agent must
// not believe that somebody was told there.
func (in *postInput) checkChannels() error {
	var problems []fermata.Problem
	for i, name := range in.NotifyVia {
		if name != inbox {
			problems = append(problems, fermata.Problem{
				Field: fmt.Sprintf("notifyVia[%d]", i), Message: fmt.Sprintf("this server has no channel %q", name),
			})
		}
	}
	refuse := func(field string, given bool, channel string) {
		if given {
			problems = append(problems, fermata.Problem{Field: field, Message: "this server has no channel " + channel})
		}
	}
	refuse("slackChannel", in.SlackChannel != "", "slack")
	refuse("slackMention", in.SlackMention != "", "slack")
	refuse("emailRecipients", len(in.EmailRecipients) > 0, "email")
	if len(problems) == 0 {
		return nil
	}
	return fermata.Invalid(problems...).WithHint("leave it out: every question is in the inbox; assignees says whom it is for")
}

package github

import (
	"context"
	"fmt"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// beginWaiting labels the issue and assigns the people who are asked. If the
// account may not do that, it logs the refusal, and the question is still
// asked.
func (c *Channel) beginWaiting(ctx context.Context, to *ref, n *notice.Notice) error {
	if label := c.settings.WaitingLabel; label != "" {
		if err := c.tolerateRefusal(ctx, c.client.Label(ctx, to.Place, label)); err != nil {
			return err
		}
	}
	people := c.assigneeLogins(ctx, n)
	if len(people) == 0 {
		return nil
	}
	added, err := c.client.Assign(ctx, to.Place, people)
	to.Assigned = added
	return c.tolerateRefusal(ctx, err)
}

// endWaiting removes what beginWaiting set, and marks a timeout.
func (c *Channel) endWaiting(ctx context.Context, to *ref, n *notice.Notice) error {
	seen, err := c.readView(ctx, to.Place)
	if err != nil {
		return c.tolerateRefusal(ctx, err)
	}
	others := slices.ContainsFunc(seen.openQuestions(), func(o ownComment) bool { return o.mark.question != n.Question.ID })
	if label := c.settings.WaitingLabel; label != "" && !others {
		if err := c.tolerateRefusal(ctx, c.client.Unlabel(ctx, to.Place, label)); err != nil {
			return err
		}
	}
	if n.Outcome.Status == fermata.TimedOut {
		return c.announceTimeout(ctx, to, n, seen)
	}
	if len(to.Assigned) > 0 {
		if err := c.tolerateRefusal(ctx, c.client.Unassign(ctx, to.Place, to.Assigned)); err != nil {
			return err
		}
		to.Assigned = nil
	}
	return nil
}

// announceTimeout labels and assigns the issue as the settings say. It writes a
// new comment that nobody answered, because editing a comment notifies nobody.
func (c *Channel) announceTimeout(ctx context.Context, to *ref, n *notice.Notice, seen *issueView) error {
	if label := c.settings.TimeoutLabel; label != "" {
		if err := c.tolerateRefusal(ctx, c.client.Label(ctx, to.Place, label)); err != nil {
			return err
		}
	}
	if people := c.settings.TimeoutAssignees; len(people) > 0 {
		if _, err := c.client.Assign(ctx, to.Place, people); c.tolerateRefusal(ctx, err) != nil {
			return err
		}
	}
	note := "timeout_" + n.Question.ID
	if slices.ContainsFunc(seen.comments, func(o ownComment) bool { return o.mark.note == note }) {
		return nil
	}
	body := fmt.Sprintf("Nobody answered %s in time: %s.\n\n%s", phrase(n.Question.Title), escapeVisible(n.Outcome.Words), mark{note: note})
	_, err := c.client.Comment(ctx, to.Place, body)
	return c.tolerateRefusal(ctx, err)
}

// tolerateRefusal logs an error and returns nil if GitHub refused the request
// for good. It returns any other error. A missing permission to label must not
// keep a question from people.
func (c *Channel) tolerateRefusal(ctx context.Context, err error) error {
	if err == nil || !isRefused(err) {
		return err
	}
	c.env.Log.WarnContext(ctx, "GitHub refused something beside the question", "channel", c.env.Name, "error", err)
	return nil
}

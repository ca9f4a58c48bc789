package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/fermata-hq/fermata"
)

// messageBody is the body of a message.
type messageBody struct {
	Body string `json:"body"`
}

// PostMessage adds a message to a task's thread.
func (c *Client) PostMessage(ctx context.Context, taskID, body string) (*fermata.Message, error) {
	return post[*fermata.Message](ctx, c, path("tasks", taskID, "messages"), messageBody{body})
}

// HandMessages records that the agent of an external task got these messages of its thread.
func (c *Client) HandMessages(ctx context.Context, taskID string, ids []string) error {
	return c.sendOnly(ctx, call{method: http.MethodPost, path: path("tasks", taskID, "messages", "handed"), body: map[string][]string{"message_ids": ids}})
}

// Messages returns a page of a task's thread and the cursor of the next page, which is "" at the end. If limit is 0,
// the server chooses the size of the page.
func (c *Client) Messages(ctx context.Context, taskID, cursor string, limit int) ([]*fermata.Message, string, error) {
	v := values{}
	v.setText("cursor", cursor)
	v.setNumber("limit", int64(limit))
	p, err := get[page[*fermata.Message]](ctx, c, path("tasks", taskID, "messages"), url.Values(v))
	return p.Items, p.NextCursor, err
}

package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/fermata-hq/fermata"
)

// CountQuestions counts pending questions. It ignores the query's status, text,
// order and page.
func (c *Client) CountQuestions(ctx context.Context, q QuestionQuery) (fermata.QuestionCounts, error) {
	v := values{}
	q.addFilters(v)
	return get[fermata.QuestionCounts](ctx, c, path("questions", "counts"), url.Values(v))
}

// Undo takes back an answer that is still held.
func (c *Client) Undo(ctx context.Context, id string) (*fermata.Question, error) {
	return post[*fermata.Question](ctx, c, path("questions", id, "undo"), struct{}{})
}

// Assign replaces the assignees of a question.
func (c *Client) Assign(ctx context.Context, id string, a fermata.Assignment) (*fermata.Question, error) {
	if a.Assignees == nil {
		a.Assignees = []string{}
	}
	return post[*fermata.Question](ctx, c, path("questions", id, "assign"), a)
}

// Snooze snoozes a question for the caller, or ends the snooze.
func (c *Client) Snooze(ctx context.Context, id string, s fermata.Snooze) (*fermata.Question, error) {
	return post[*fermata.Question](ctx, c, path("questions", id, "snooze"), s)
}

// Comment adds a comment to a question, and does not decide it.
func (c *Client) Comment(ctx context.Context, id, body string) (*fermata.Message, error) {
	return post[*fermata.Message](ctx, c, path("questions", id, "comments"), messageBody{body})
}

// Similar returns past answers to similar questions.
func (c *Client) Similar(ctx context.Context, id string) ([]fermata.PastAnswer, error) {
	p, err := get[page[fermata.PastAnswer]](ctx, c, path("questions", id, "similar"), nil)
	return p.Items, err
}

// Deciders returns the members who may decide a question, and why the others
// may not.
func (c *Client) Deciders(ctx context.Context, id string) (*fermata.Deciders, error) {
	return get[*fermata.Deciders](ctx, c, path("questions", id, "deciders"), nil)
}

// Receipt returns the signed receipt of a closed question.
func (c *Client) Receipt(ctx context.Context, id string) (*fermata.SignedReceipt, error) {
	return get[*fermata.SignedReceipt](ctx, c, path("questions", id, "receipt"), nil)
}

// Views returns the caller's saved views and the views that others share.
func (c *Client) Views(ctx context.Context) ([]fermata.SavedView, error) {
	p, err := get[page[fermata.SavedView]](ctx, c, path("views"), nil)
	return p.Items, err
}

// SaveView stores a view of the caller under its name. It replaces an earlier
// view of that name.
func (c *Client) SaveView(ctx context.Context, v fermata.SavedView) (fermata.SavedView, error) {
	body := struct {
		Query  string `json:"query"`
		Shared bool   `json:"shared,omitempty"`
	}{v.Query, v.Shared}
	return do[fermata.SavedView](ctx, c, call{method: http.MethodPut, path: viewPath(v.Name), body: body})
}

// DeleteView removes a saved view of the caller.
func (c *Client) DeleteView(ctx context.Context, name string) error {
	return c.sendOnly(ctx, call{method: http.MethodDelete, path: viewPath(name)})
}

// viewPath returns the address of a view. The name may be any text.
func viewPath(name string) string {
	if name == "" {
		return ""
	}
	return path("views") + "/" + url.PathEscape(name)
}

// Notifications returns a page of the caller's notifications, newest first.
func (c *Client) Notifications(ctx context.Context, limit int, cursor string) (fermata.Notifications, error) {
	v := values{}
	v.setNumber("limit", int64(limit))
	v.setText("cursor", cursor)
	return get[fermata.Notifications](ctx, c, path("notifications"), url.Values(v))
}

// ReadNotifications records the number of the last event that the caller has
// read.
func (c *Client) ReadNotifications(ctx context.Context, upTo int64) (fermata.Notifications, error) {
	body := struct {
		UpTo int64 `json:"up_to"`
	}{upTo}
	return post[fermata.Notifications](ctx, c, path("notifications", "read"), body)
}

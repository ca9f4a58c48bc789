package client

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
)

const (
	// longestPoll is the longest time that one request waits for an answer.
	longestPoll = 25 * time.Second
	// pollPause is the pause after a poll that returned at once, for example from a server that is shutting down.
	pollPause = 250 * time.Millisecond
)

// QuestionQuery filters a list of questions. An empty field does not filter.
type QuestionQuery struct {
	Status   fermata.QuestionStatus
	Type     fermata.QuestionType
	Project  string
	Assignee string
	// TaskID selects the questions of one task.
	TaskID string
	// Mine selects the questions that the caller may answer and has not snoozed.
	Mine bool
	// Snoozed selects the questions that the caller has snoozed.
	Snoozed bool
	Urgency fermata.Urgency
	Risk    fermata.Risk
	// Label is a label of the question's task.
	Label string
	// Sort is urgency, deadline, newest or oldest.
	Sort string
	// Q is searched for in titles, bodies, prompts and the titles of tasks.
	Q string
	// Limit is the size of a page. The server chooses it if it is 0.
	Limit int
	// Cursor is the cursor that the previous page returned.
	Cursor string
}

func (q QuestionQuery) values() url.Values {
	v := values{}
	q.narrow(v)
	v.text("status", string(q.Status))
	v.flag("snoozed", q.Snoozed)
	v.text("sort", q.Sort)
	v.text("q", q.Q)
	v.number("limit", int64(q.Limit))
	v.text("cursor", q.Cursor)
	return url.Values(v)
}

// narrow adds the filters that lists and counts share.
func (q QuestionQuery) narrow(v values) {
	if q.Mine {
		v.text("for", "me")
	}
	v.text("type", string(q.Type))
	v.text("urgency", string(q.Urgency))
	v.text("risk", string(q.Risk))
	v.text("project", q.Project)
	v.text("assignee", q.Assignee)
	v.text("label", q.Label)
}

// Outside is a question to ask outside any task.
type Outside struct {
	Project string `json:"project,omitempty"`
	// Session is a key of your choice. Questions with the same session belong to the same task.
	Session string `json:"session,omitempty"`
	fermata.Ask
}

// Ask asks a question in a task.
func (c *Client) Ask(ctx context.Context, taskID string, a fermata.Ask) (*fermata.Question, error) {
	return post[*fermata.Question](ctx, c, path("tasks", taskID, "questions"), a)
}

// AskOutside asks a question outside any task. The server makes a task for it, or uses the task of its session.
func (c *Client) AskOutside(ctx context.Context, o Outside) (*fermata.Question, error) {
	return post[*fermata.Question](ctx, c, path("questions"), o)
}

// Question returns a question. The id may be shortened to an ending that is unique.
func (c *Client) Question(ctx context.Context, id string) (*fermata.Question, error) {
	return get[*fermata.Question](ctx, c, path("questions", id), nil)
}

// WaitQuestion returns a question as soon as it is closed. If the wait ends first, it returns the question as it is. A
// long wait takes several requests.
func (c *Client) WaitQuestion(ctx context.Context, id string, wait time.Duration) (*fermata.Question, error) {
	return c.waitQuestion(ctx, id, wait, false)
}

// WaitWords is like [Client.WaitQuestion], but a message of a person ends the wait too. It then returns the pending
// question, if the agent of an external task has not got the message yet. [Client.Context] of the task returns the
// messages.
func (c *Client) WaitWords(ctx context.Context, id string, wait time.Duration) (*fermata.Question, error) {
	return c.waitQuestion(ctx, id, wait, true)
}

func (c *Client) waitQuestion(ctx context.Context, id string, wait time.Duration, words bool) (*fermata.Question, error) {
	end := time.Now().Add(wait)
	for {
		began := time.Now()
		poll := min(time.Until(end), longestPoll).Round(time.Millisecond)
		v := values{}
		if poll > 0 {
			v.text("wait", poll.String())
			v.flag("messages", words)
		}
		q, err := get[*fermata.Question](ctx, c, path("questions", id), url.Values(v))
		if err != nil || q.Status != fermata.Pending || !time.Now().Before(end) {
			return q, err
		}
		if words && time.Since(began) < poll {
			// A message ends the request early, but so does a server that is shutting down.
			rc, err := c.Context(ctx, q.TaskID)
			if err != nil || slices.ContainsFunc(rc.Messages, func(m fermata.Message) bool { return m.HandedTo == "" }) {
				return q, err
			}
		}
		if err := sleep(ctx, pollPause); err != nil {
			return q, err
		}
	}
}

// Questions returns a page of questions and the cursor of the next page, which is "" at the end. A page may be shorter
// than its limit.
func (c *Client) Questions(ctx context.Context, q QuestionQuery) ([]*fermata.Question, string, error) {
	at := path("questions")
	if q.TaskID != "" {
		at = path("tasks", q.TaskID, "questions")
	}
	p, err := get[page[*fermata.Question]](ctx, c, at, q.values())
	return p.Items, p.NextCursor, err
}

// Answer answers a question.
func (c *Client) Answer(ctx context.Context, id string, a fermata.Answer) (*fermata.Question, error) {
	return post[*fermata.Question](ctx, c, path("questions", id, "answer"), a)
}

// Clarify asks the agent for more information. The question stays open.
func (c *Client) Clarify(ctx context.Context, id, body string) (*fermata.Question, error) {
	return post[*fermata.Question](ctx, c, path("questions", id, "clarify"), note{body})
}

// CancelQuestion withdraws a question.
func (c *Client) CancelQuestion(ctx context.Context, id, reason string) (*fermata.Question, error) {
	return post[*fermata.Question](ctx, c, path("questions", id, "cancel"), because{reason})
}

// Extend postpones the deadline of a question.
func (c *Client) Extend(ctx context.Context, id string, by fermata.Timeout) (*fermata.Question, error) {
	body := struct {
		By fermata.Timeout `json:"by"`
	}{by}
	return post[*fermata.Question](ctx, c, path("questions", id, "extend"), body)
}

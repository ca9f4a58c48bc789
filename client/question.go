package client

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
)

const (
	// longestPoll is how long one request waits for an answer.
	longestPoll = 25 * time.Second
	// pollPause is the pause after a poll that came back at once, as from a
	// server that is about to stop.
	pollPause = 250 * time.Millisecond
)

// QuestionQuery narrows a list of questions. Empty fields narrow nothing.
type QuestionQuery struct {
	Status   fermata.QuestionStatus
	Type     fermata.QuestionType
	Project  string
	Assignee string
	// TaskID keeps the questions of one task.
	TaskID string
	// Mine keeps those that the caller may answer and has not put off.
	Mine bool
	// Snoozed keeps those that the caller put off.
	Snoozed bool
	Urgency fermata.Urgency
	Risk    fermata.Risk
	// Label is one of the task's.
	Label string
	// Sort is urgency, deadline, newest or oldest.
	Sort string
	// Q is looked for in titles, bodies, prompts and the tasks' titles.
	Q string
	// Limit is the length of a page; 0 leaves it to the server.
	Limit int
	// Cursor is where the last page ended.
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

// narrow writes what lists and counts have in common.
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

// Outside is a question that is asked outside any task.
type Outside struct {
	Project string `json:"project,omitempty"`
	// Session joins the questions of one conversation in one task.
	Session string `json:"session,omitempty"`
	fermata.Ask
}

// Ask asks a question in a task.
func (c *Client) Ask(ctx context.Context, taskID string, a fermata.Ask) (*fermata.Question, error) {
	return post[*fermata.Question](ctx, c, path("tasks", taskID, "questions"), a)
}

// AskOutside asks a question outside any task; a task is made for it, or
// joined by its session.
func (c *Client) AskOutside(ctx context.Context, o Outside) (*fermata.Question, error) {
	return post[*fermata.Question](ctx, c, path("questions"), o)
}

// Question reads a question. The id may be a unique ending.
func (c *Client) Question(ctx context.Context, id string) (*fermata.Question, error) {
	return get[*fermata.Question](ctx, c, path("questions", id), nil)
}

// WaitQuestion reads a question as soon as it is closed, or as it is when the
// wait is over. A long wait is several requests.
func (c *Client) WaitQuestion(ctx context.Context, id string, wait time.Duration) (*fermata.Question, error) {
	return c.waitQuestion(ctx, id, wait, false)
}

// WaitWords is [Client.WaitQuestion], and returns the pending question also when a person
// wrote something that the agent of an external task was not handed. The words are in the
// task's [Client.Context].
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
			// Words end the request early, and so does a server that stops.
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

// Questions returns a page of questions and the cursor of the next one, "" at
// the end. A page may be shorter than its limit.
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

// Clarify asks the agent back. The question stays open.
func (c *Client) Clarify(ctx context.Context, id, body string) (*fermata.Question, error) {
	return post[*fermata.Question](ctx, c, path("questions", id, "clarify"), note{body})
}

// CancelQuestion withdraws a question.
func (c *Client) CancelQuestion(ctx context.Context, id, reason string) (*fermata.Question, error) {
	return post[*fermata.Question](ctx, c, path("questions", id, "cancel"), because{reason})
}

// Extend puts the deadline of a question off.
func (c *Client) Extend(ctx context.Context, id string, by fermata.Timeout) (*fermata.Question, error) {
	body := struct {
		By fermata.Timeout `json:"by"`
	}{by}
	return post[*fermata.Question](ctx, c, path("questions", id, "extend"), body)
}

package client

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
)

const (
	// maxPoll is the longest time that one request waits for an answer.
	maxPoll = 25 * time.Second
	// pollDelay is the pause after a poll that returned at once, for example from a server that is shutting down.
	pollDelay = 250 * time.Millisecond
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
	q.addFilters(v)
	v.setText("status", string(q.Status))
	v.setFlag("snoozed", q.Snoozed)
	v.setText("sort", q.Sort)
	v.setText("q", q.Q)
	v.setNumber("limit", int64(q.Limit))
	v.setText("cursor", q.Cursor)
	return url.Values(v)
}

// addFilters adds the filters that lists and counts share.
func (q QuestionQuery) addFilters(v values) {
	if q.Mine {
		v.setText("for", "me")
	}
	v.setText("type", string(q.Type))
	v.setText("urgency", string(q.Urgency))
	v.setText("risk", string(q.Risk))
	v.setText("project", q.Project)
	v.setText("assignee", q.Assignee)
	v.setText("label", q.Label)
}

// OutsideQuestion is a question to ask outside any task.
type OutsideQuestion struct {
	Project string `json:"project,omitempty"`
	// Session is a key of your choice. Questions with the same session belong to the same task.
	Session string `json:"session,omitempty"`
	fermata.Ask
}

// Ask asks a question in a task.
func (c *Client) Ask(ctx context.Context, taskID string, a fermata.Ask) (*fermata.Question, error) {
	return post[*fermata.Question](ctx, c, path("tasks", taskID, "questions"), a)
}

// AskOutside asks a question outside any task. The server creates a task for the question, or uses the task of its
// session.
func (c *Client) AskOutside(ctx context.Context, o OutsideQuestion) (*fermata.Question, error) {
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

// WaitQuestionOrMessage is like [Client.WaitQuestion], but a message of a person ends the wait too. It then returns the pending
// question, if the agent of an external task has not got the message yet. [Client.ResumeContext] of the task returns the
// messages.
func (c *Client) WaitQuestionOrMessage(ctx context.Context, id string, wait time.Duration) (*fermata.Question, error) {
	return c.waitQuestion(ctx, id, wait, true)
}

func (c *Client) waitQuestion(ctx context.Context, id string, wait time.Duration, orMessage bool) (*fermata.Question, error) {
	end := time.Now().Add(wait)
	for {
		began := time.Now()
		poll := min(time.Until(end), maxPoll).Round(time.Millisecond)
		v := values{}
		if poll > 0 {
			v.setText("wait", poll.String())
			v.setFlag("messages", orMessage)
		}
		q, err := get[*fermata.Question](ctx, c, path("questions", id), url.Values(v))
		if err != nil || q.Status != fermata.Pending || !time.Now().Before(end) {
			return q, err
		}
		if orMessage && time.Since(began) < poll {
			// A message ends the request early, but so does a server that is shutting down.
			rc, err := c.ResumeContext(ctx, q.TaskID)
			if err != nil || slices.ContainsFunc(rc.Messages, func(m fermata.Message) bool { return m.HandedTo == "" }) {
				return q, err
			}
		}
		if err := sleep(ctx, pollDelay); err != nil {
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
	return post[*fermata.Question](ctx, c, path("questions", id, "clarify"), messageBody{body})
}

// CancelQuestion withdraws a question.
func (c *Client) CancelQuestion(ctx context.Context, id, reason string) (*fermata.Question, error) {
	return post[*fermata.Question](ctx, c, path("questions", id, "cancel"), reasonBody{reason})
}

// Extend postpones the deadline of a question.
func (c *Client) Extend(ctx context.Context, id string, by fermata.Timeout) (*fermata.Question, error) {
	body := struct {
		By fermata.Timeout `json:"by"`
	}{by}
	return post[*fermata.Question](ctx, c, path("questions", id, "extend"), body)
}

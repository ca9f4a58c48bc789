package agentcheck

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/scriptedmodel"
)

// Status is the status of one result of an agent check.
type Status string

// The statuses.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
	// Skip marks a check of something that this program cannot do, and need not do.
	Skip Status = "skip"
)

// Result is the outcome of one check.
type Result struct {
	// Name is stop, resume, defer or deny.
	Name   string
	Status Status
	Detail string
	// Log is the output of the run, if the check failed.
	Log string
}

// Checker is the setting of an agent check: a server with a worker that drives the program, and a model that talks to
// it.
type Checker struct {
	Program string
	Model   *scriptedmodel.Model
	// Person is the client of a person, who creates the tasks and answers.
	Person *client.Client
	// Folder holds the working copies of the worker.
	Folder string
	// Limit is how long the agent may take until it has stopped, and again until it is done.
	Limit time.Duration
}

// conversationOf returns the conversation to which the model replied by the rule, or nil if there is none.
func (c *Checker) conversationOf(rule string) *scriptedmodel.Conversation {
	requests := c.Model.Requests()
	i := slices.IndexFunc(requests, func(r scriptedmodel.Request) bool { return r.Rule == rule })
	if i < 0 {
		return nil
	}
	return requests[i].Conversation
}

// errReached ends a stream when the expected state was reached, or when the limit has passed.
var errReached = errors.New("seen")

// waitUntil follows the task's events until the task has ended, reached returns true, or the limit has passed. It
// returns the task as it is then.
func (c *Checker) waitUntil(ctx context.Context, task *fermata.Task, reached func(*fermata.Task) (bool, error)) (*fermata.Task, error) {
	limited, cancel := context.WithTimeoutCause(ctx, c.Limit, errReached)
	defer cancel()
	err := c.Person.Stream(limited, client.StreamQuery{TaskID: task.ID, FromStart: true}, func(*fermata.Event) error {
		t, err := c.Person.Task(limited, task.ID)
		if err != nil {
			return err
		}
		task = t
		ok, err := reached(t)
		if err == nil && (ok || t.State.IsEnded()) {
			err = errReached
		}
		return err
	})
	if errors.Is(err, errReached) || errors.Is(context.Cause(limited), errReached) && ctx.Err() == nil {
		return c.Person.Task(ctx, task.ID)
	}
	return nil, err
}

// log returns the output of all runs of a task.
func (c *Checker) log(ctx context.Context, t *fermata.Task) (string, error) {
	runs, err := c.Person.Runs(ctx, t.ID)
	if err != nil {
		return "", err
	}
	var sb strings.Builder
	for _, r := range runs {
		chunks, _, _, err := c.Person.RunLog(ctx, r.ID, 0, 0)
		if err != nil {
			return "", err
		}
		for _, c := range chunks {
			sb.WriteString(c.Text)
		}
	}
	return sb.String(), nil
}

// stopTime returns how long after its question an agent's process had ended.
func stopTime(t *fermata.Task, r *fermata.Run) time.Duration {
	return max(0, r.EndedAt.Sub(t.PendingQuestion.CreatedAt)).Round(10 * time.Millisecond)
}

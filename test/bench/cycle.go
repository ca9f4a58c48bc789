package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
)

// Requests of the bench's agents. The texts are as long as real ones.
const (
	taskBody = `{"title":"Add a configuration file to the lighthouse service","body":"Give the project a configuration file and describe it in the README. Keep the defaults as they are, and do not touch the command line: it is documented elsewhere and others depend on it."}`

	askRest = `,"result":"needs_input","summary":"Read the sources; the format is not decided.","question":{"title":"Which format for the configuration?","body":"Both parsers are dependencies already. TOML is what the other services use.","question":"Which format shall the file have?","response_type":"choice","options":[{"value":"toml","description":"as the other services"},{"value":"yaml","description":"as the deployment files"}],"timeout":"`

	askEnd = `"}}`

	answerBody = `{"answer":"toml","comment":"As everywhere else.","channel":"cli"}`

	finishRest = `,"result":"completed","summary":"Added config.toml, described it in the README and committed both."}`

	claimBody = `{"worker":"bench-worker","lease_seconds":3600}`
)

// withToken writes a finish request with a fencing token.
func withToken(token int64, rest ...string) []byte {
	body := append(make([]byte, 0, 640), `{"token":`...)
	body = strconv.AppendInt(body, token, 10)
	for _, part := range rest {
		body = append(body, part...)
	}
	return body
}

// client is an agent and a person who take turns.
type client struct {
	agent, person *caller
}

func newClient(shared *http.Client, url string, k tokens, i int) *client {
	return &client{agent: newCaller(shared, url, k.agent(i)), person: newCaller(shared, url, k.person(i))}
}

// claimedRun is a run with its task.
type claimedRun struct {
	run, task string
	token     int64
	// isResumed reports whether the task had an answer for the run.
	isResumed bool
}

var errNoTask = errors.New("the claim got no task")

func (c *client) create(ctx context.Context) error {
	_, err := c.agent.post(ctx, "/v1/tasks", []byte(taskBody))
	return err
}

// claim takes any task, because the clients share one queue.
func (c *client) claim(ctx context.Context) (claimedRun, error) {
	return c.claimWith(ctx, claimBody)
}

func (c *client) claimWith(ctx context.Context, body string) (claimedRun, error) {
	reply, err := c.agent.post(ctx, "/v1/claims", []byte(body))
	if err != nil {
		return claimedRun{}, err
	}
	_, run, ok := bytes.Cut(reply, []byte(`"run":{`))
	if !ok {
		return claimedRun{}, errNoTask
	}
	return claimedRun{quotedAfter(run, `"id":"`), quotedAfter(run, `"task_id":"`), numberAfter(run, `"token":`), bytes.Contains(run, []byte(`"claimed_from":"input_received"`))}, nil
}

// ask ends a run with a question and returns the question's id.
func (c *client) ask(ctx context.Context, r claimedRun, timeout string) (string, error) {
	reply, err := c.agent.post(ctx, "/v1/runs/"+r.run+"/finish", withToken(r.token, askRest, timeout, askEnd))
	return quotedAfter(reply, `"pending_question_id":"`), err
}

func (c *client) answer(ctx context.Context, question string) error {
	_, err := c.person.post(ctx, "/v1/questions/"+question+"/answer", []byte(answerBody))
	return err
}

func (c *client) complete(ctx context.Context, r claimedRun) error {
	_, err := c.agent.post(ctx, "/v1/runs/"+r.run+"/finish", withToken(r.token, finishRest))
	return err
}

// suspendedTask is a task that waits for an answer.
type suspendedTask struct{ task, question string }

// suspend creates a task and stops it on a question.
func (c *client) suspend(ctx context.Context, timeout string) (suspendedTask, error) {
	if err := c.create(ctx); err != nil {
		return suspendedTask{}, err
	}
	r, err := c.claim(ctx)
	if err != nil {
		return suspendedTask{}, err
	}
	question, err := c.ask(ctx, r, timeout)
	return suspendedTask{r.task, question}, err
}

// cycle plays one task from its creation to its end, with one question.
func (c *client) cycle(ctx context.Context) error {
	s, err := c.suspend(ctx, "1d")
	if err != nil {
		return err
	}
	if err := c.answer(ctx, s.question); err != nil {
		return err
	}
	r, err := c.claim(ctx)
	if err != nil {
		return err
	}
	return c.complete(ctx, r)
}

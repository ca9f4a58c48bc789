package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/fermata-hq/fermata"
)

// ErrNoTask is the error of a claim that found no task while it waited.
var ErrNoTask = errors.New("there is no task to claim")

// Claim takes the next task that the worker can do. If there is none during the request's wait, it returns
// [ErrNoTask].
func (c *Client) Claim(ctx context.Context, r fermata.ClaimRequest) (*fermata.Claim, error) {
	claim, err := do[*fermata.Claim](ctx, c, call{method: http.MethodPost, path: path("claims"), body: r, agentToken: c.agentToken})
	if err == errNoContent { //nolint:errorlint // the very value, not one of its code
		return nil, ErrNoTask
	}
	return claim, err
}

// StopClaiming tells the server that a worker stops claiming tasks. The request is the one with which the worker claimed.
func (c *Client) StopClaiming(ctx context.Context, r fermata.ClaimRequest) error {
	_, err := do[struct{}](ctx, c, call{method: http.MethodPost, path: path("workers", "leave"), body: r, agentToken: c.agentToken})
	return err
}

// Heartbeat extends the lease of a run and returns the news of its task.
func (c *Client) Heartbeat(ctx context.Context, runID string, h fermata.Heartbeat) (*fermata.HeartbeatReply, error) {
	return post[*fermata.HeartbeatReply](ctx, c, path("runs", runID, "heartbeat"), h)
}

// Attention waits until one of the runs has news: an answer or a message, which the next heartbeat returns, a new
// deadline, or a reason to stop. The list is empty if the request's wait ends first.
func (c *Client) Attention(ctx context.Context, r fermata.AttentionRequest) (*fermata.Attention, error) {
	return post[*fermata.Attention](ctx, c, path("attention"), r)
}

// AppendLog appends to the output of a run and returns the offset after it.
func (c *Client) AppendLog(ctx context.Context, runID string, token int64, text string) (int64, error) {
	body := struct {
		Token int64  `json:"token"`
		Text  string `json:"text"`
	}{token, text}
	reply, err := post[struct {
		Next int64 `json:"next"`
	}](ctx, c, path("runs", runID, "log"), body)
	return reply.Next, err
}

// ReportRunProgress reports the progress of a run.
func (c *Client) ReportRunProgress(ctx context.Context, runID string, p fermata.Progress) error {
	return c.sendOnly(ctx, call{method: http.MethodPost, path: path("runs", runID, "progress"), body: p})
}

// Finish ends a run with a result. If the result has a claim, the reply has the worker's next task, if there is one.
func (c *Client) Finish(ctx context.Context, runID string, f fermata.Finish) (*fermata.FinishReply, error) {
	k := call{method: http.MethodPost, path: path("runs", runID, "finish"), body: f}
	if f.Claim != nil {
		k.agentToken = c.agentToken
	}
	return do[*fermata.FinishReply](ctx, c, k)
}

// Release ends a run without a result and gives its task back. The next run gets the same answers and messages again.
func (c *Client) Release(ctx context.Context, runID string, token int64) (*fermata.Task, error) {
	body := struct {
		Token int64 `json:"token"`
	}{token}
	return post[*fermata.Task](ctx, c, path("runs", runID, "release"), body)
}

// Run returns a run.
func (c *Client) Run(ctx context.Context, id string) (*fermata.Run, error) {
	return get[*fermata.Run](ctx, c, path("runs", id), nil)
}

// Runs returns the runs of a task.
func (c *Client) Runs(ctx context.Context, taskID string) ([]*fermata.Run, error) {
	p, err := get[page[*fermata.Run]](ctx, c, path("tasks", taskID, "runs"), nil)
	return p.Items, err
}

// Workers returns the workers that asked for a task in the last week.
func (c *Client) Workers(ctx context.Context) ([]fermata.Worker, error) {
	p, err := get[page[fermata.Worker]](ctx, c, path("workers"), nil)
	return p.Items, err
}

// RunLog returns the output of a run from an offset on, the offset after it, and whether the run has ended. If there is
// no output yet, it waits for up to wait (at most 25 seconds).
func (c *Client) RunLog(ctx context.Context, runID string, offset int64, wait time.Duration) ([]fermata.LogChunk, int64, bool, error) {
	v := values{}
	v.setNumber("offset", offset)
	if wait > 0 {
		v.setText("wait", min(wait, maxPoll).String())
	}
	reply, err := get[struct {
		Chunks []fermata.LogChunk `json:"chunks"`
		Next   int64              `json:"next"`
		Ended  bool               `json:"ended"`
	}](ctx, c, path("runs", runID, "log"), url.Values(v))
	return reply.Chunks, reply.Next, reply.Ended, err
}

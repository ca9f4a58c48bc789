package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/fermata-hq/fermata"
)

const (
	// maxBackoff is the longest wait between two tries.
	maxBackoff = 2 * time.Second
	// maxRetryAfter is the longest wait that a server may ask for. If it
	// asks for more, the call gives up and returns the error.
	maxRetryAfter = 15 * time.Second
)

// retry calls try until it succeeds, fails for good, or has no tries left. It
// returns the last error.
func retry[T any](ctx context.Context, c *Client, try func() (T, error)) (T, error) {
	for n := 1; ; n++ {
		result, err := try()
		wait, retryable := c.backoff(n, err)
		if !retryable || n >= c.maxTries {
			return result, err
		}
		if sleep(ctx, wait) != nil {
			return result, err
		}
	}
}

// backoff reports whether another try may help after the n-th one, and how long
// to wait before it. The wait is random, so that many clients of a restarted
// server do not come back at the same moment.
func (c *Client) backoff(n int, err error) (time.Duration, bool) {
	e, ok := errors.AsType[*fermata.Error](err)
	if !ok || (e.Code != fermata.CodeUnavailable && e.Code != fermata.CodeRateLimited) {
		return 0, false
	}
	if e.RetryAfter > maxRetryAfter {
		return 0, false
	}
	wait := min(c.minBackoff<<min(n-1, 10), maxBackoff)
	wait = wait/2 + rand.N(wait/2+1) //nolint:gosec // a spread, not a secret
	return max(wait, e.RetryAfter), true
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/fermata-hq/fermata"
)

const (
	// longestBackoff bounds the wait between two tries.
	longestBackoff = 2 * time.Second
	// longestRetryAfter is how long a server may ask a call to wait before
	// the call gives up and tells its caller instead.
	longestRetryAfter = 15 * time.Second
)

// retry calls try until it succeeds, fails for good, or has used up its
// tries. It returns the last error.
func retry[T any](ctx context.Context, c *Client, try func() (T, error)) (T, error) {
	for n := 1; ; n++ {
		result, err := try()
		wait, again := c.backoff(n, err)
		if !again || n >= c.tries {
			return result, err
		}
		if sleep(ctx, wait) != nil {
			return result, err
		}
	}
}

// backoff says whether another try may help after the n-th, and how long to
// wait before it. The wait is random, so that many clients of a server that
// restarts do not come back together.
func (c *Client) backoff(n int, err error) (time.Duration, bool) {
	e, ok := errors.AsType[*fermata.Error](err)
	if !ok || (e.Code != fermata.CodeUnavailable && e.Code != fermata.CodeRateLimited) {
		return 0, false
	}
	if e.RetryAfter > longestRetryAfter {
		return 0, false
	}
	wait := min(c.shortest<<min(n-1, 10), longestBackoff)
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

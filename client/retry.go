package client

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/fermata-hq/fermata"
)

const (
	// maxBackoff is the longest wait between two tries, before half of it is
	// added or taken away at random.
	maxBackoff = 2 * time.Second
	// maxRetryAfter is the longest wait that a server may ask for. If it
	// asks for more, the call gives up and returns the error.
	maxRetryAfter = 15 * time.Second
)

// retry calls try until it succeeds, fails for good, or has no tries left. It
// returns the last error.
func retry[T any](ctx context.Context, c *Client, try func() (T, error)) (T, error) {
	waits := c.newBackOff()
	for n := 1; ; n++ {
		result, err := try()
		wait, retryable := retryDelay(err, waits)
		if !retryable || n >= c.maxTries {
			return result, err
		}
		if sleep(ctx, wait) != nil {
			return result, err
		}
	}
}

// newBackOff returns the waits between tries. They are random, so that many
// clients of a restarted server do not come back at the same moment.
func (c *Client) newBackOff() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval, b.Multiplier = c.minBackoff, maxBackoff, 2
	return b
}

// retryDelay reports whether another try may help after an error, and how long
// to wait before it.
func retryDelay(err error, waits backoff.BackOff) (time.Duration, bool) {
	e, ok := errors.AsType[*fermata.Error](err)
	if !ok || (e.Code != fermata.CodeUnavailable && e.Code != fermata.CodeRateLimited) {
		return 0, false
	}
	if e.RetryAfter > maxRetryAfter {
		return 0, false
	}
	return max(waits.NextBackOff(), e.RetryAfter), true
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

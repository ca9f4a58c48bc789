package engine

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
)

type renewalKey struct{}

// Renewal looks up the caller of a call again. It returns the caller with the present roles, or an error if the token
// or the session has ended.
type Renewal func(ctx context.Context) (fermata.Caller, error)

// WithRenewal returns a context with a renewal. A call that waits uses it before it returns data that came during the
// wait.
func WithRenewal(ctx context.Context, r Renewal) context.Context {
	return context.WithValue(ctx, renewalKey{}, r)
}

// RenewalOf returns the renewal of a context, or nil if it has none.
func RenewalOf(ctx context.Context) Renewal {
	r, _ := ctx.Value(renewalKey{}).(Renewal)
	return r
}

// renewCaller returns the caller with the present rights. Without a renewal in the context, it returns c.
func renewCaller(ctx context.Context, c fermata.Caller) (fermata.Caller, error) {
	if r := RenewalOf(ctx); r != nil {
		return r(ctx)
	}
	return c, nil
}

// untilAs waits as [hub.waitUntil] does. Before each look except the first it renews the caller, so that the rights
// at the time of the return count.
func (e *Engine) untilAs(ctx context.Context, c *fermata.Caller, topic string, wait time.Duration, look func() (bool, error)) error {
	first := true
	return e.hub.waitUntil(ctx, topic, wait, func() (bool, error) {
		if !first {
			now, err := renewCaller(ctx, *c)
			if err != nil {
				return false, err
			}
			*c = now
		}
		first = false
		return look()
	})
}

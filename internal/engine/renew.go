package engine

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
)

type renewalKey struct{}

// Renewal looks up again who makes a call. It returns the caller with the roles of this moment, or the error that the token or the
// session has ended.
type Renewal func(ctx context.Context) (fermata.Caller, error)

// WithRenewal returns a context with a renewal. A call that waits uses it before it returns what came while it waited.
func WithRenewal(ctx context.Context, r Renewal) context.Context {
	return context.WithValue(ctx, renewalKey{}, r)
}

// RenewalOf returns the renewal of a context; nil where it has none.
func RenewalOf(ctx context.Context) Renewal {
	r, _ := ctx.Value(renewalKey{}).(Renewal)
	return r
}

// renewCaller returns the caller with the rights of this moment. Without a renewal in the context, these are the rights in c.
func renewCaller(ctx context.Context, c fermata.Caller) (fermata.Caller, error) {
	if r := RenewalOf(ctx); r != nil {
		return r(ctx)
	}
	return c, nil
}

// untilAs waits as [hub.waitUntil] does. It renews the caller before each look but the first, so that the rights of the moment count at
// which the call returns.
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

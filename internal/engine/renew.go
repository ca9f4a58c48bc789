package engine

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
)

type renewalKey struct{}

// Renewal returns who makes a call as of now: with the roles that the person has now, or the error that the token or the session
// is over.
type Renewal func(ctx context.Context) (fermata.Caller, error)

// WithRenewal lets calls in the context that wait ask again who makes them before they return what came meanwhile.
func WithRenewal(ctx context.Context, r Renewal) context.Context {
	return context.WithValue(ctx, renewalKey{}, r)
}

// RenewalOf returns the renewal of a context; nil where it has none.
func RenewalOf(ctx context.Context) Renewal {
	r, _ := ctx.Value(renewalKey{}).(Renewal)
	return r
}

// renewed returns a caller as of now.
func renewed(ctx context.Context, c fermata.Caller) (fermata.Caller, error) {
	if r := RenewalOf(ctx); r != nil {
		return r(ctx)
	}
	return c, nil
}

// untilAs waits as [hub.until] does, and renews the caller before each further look: a call that waits goes by the rights of the
// moment at which it returns.
func (e *Engine) untilAs(ctx context.Context, c *fermata.Caller, topic string, wait time.Duration, look func() (bool, error)) error {
	first := true
	return e.hub.until(ctx, topic, wait, func() (bool, error) {
		if !first {
			now, err := renewed(ctx, *c)
			if err != nil {
				return false, err
			}
			*c = now
		}
		first = false
		return look()
	})
}

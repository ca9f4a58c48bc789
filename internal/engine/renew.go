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

type generationKey struct{}

// RightsGeneration counts the changes of tokens, sessions and roles that this process knows of. While it stays the same,
// a caller that was authenticated since has the same rights.
func (e *Engine) RightsGeneration() int { return e.callers.currentGeneration() }

// WithRightsGeneration returns a context for a call whose caller was authenticated in the generation of rights. Take the
// generation before the caller is authenticated. Without it, a claim looks its caller up again before it waits.
func WithRightsGeneration(ctx context.Context, generation int) context.Context {
	return context.WithValue(ctx, generationKey{}, generation)
}

// wasAuthenticatedIn reports whether the caller of the call was authenticated in the generation of rights.
func wasAuthenticatedIn(ctx context.Context, generation int) bool {
	g, ok := ctx.Value(generationKey{}).(int)
	return ok && g == generation
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

// waitForTopicAs waits as [hub.waitForTopic] does. Before each check except the first, it renews the caller. So the
// rights that the caller has when the call returns count.
func (e *Engine) waitForTopicAs(ctx context.Context, c *fermata.Caller, topic string, wait time.Duration, check func() (bool, error)) error {
	first := true
	return e.hub.waitForTopic(ctx, topic, wait, func() (bool, error) {
		if !first {
			renewed, err := renewCaller(ctx, *c)
			if err != nil {
				return false, err
			}
			*c = renewed
		}
		first = false
		return check()
	})
}

package process

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// ShortGrace is how long a program may take to stop when its work no longer counts.
const ShortGrace = 400 * time.Millisecond

// Halt is the cause for which a context ends, if the cause decides how long the program may take to stop.
type Halt struct { //nolint:errname // it says why a program is stopped, and is no failure
	// Why is the cause in words.
	Why error
	// Grace is how long the program may take to stop. 0 means the program's own grace.
	Grace time.Duration
	// Hurry is closed when the program, which is stopping already, must end within [ShortGrace]. If it is nil, this
	// never happens.
	Hurry <-chan struct{}
}

// Error returns the cause in words.
func (h *Halt) Error() string { return h.Why.Error() }

// Unwrap returns the cause.
func (h *Halt) Unwrap() error { return h.Why }

// GraceOf returns how long a program with its own grace may take to stop after ctx has ended.
func GraceOf(ctx context.Context, own time.Duration) time.Duration {
	return haltOf(ctx).grace(cmp.Or(own, DefaultGrace))
}

// HurryOf returns the Hurry channel of the [Halt] for which ctx ended. It returns nil if there is no such channel: then
// the program is never hurried.
func HurryOf(ctx context.Context) <-chan struct{} { return haltOf(ctx).Hurry }

// haltOf returns the reason why ctx ended. It returns the zero Halt if the reason does not change the grace.
func haltOf(ctx context.Context) *Halt {
	var h *Halt
	if ctx == nil || !errors.As(context.Cause(ctx), &h) {
		return &Halt{}
	}
	return h
}

// awaitStop waits until a program that was told to stop has ended, or has no time left.
func (p Program) awaitStop(ctx context.Context, ended <-chan struct{}) {
	own := cmp.Or(p.Grace, DefaultGrace)
	h := haltOf(ctx)
	timer := time.NewTimer(h.grace(own))
	defer timer.Stop()
	hurry := h.Hurry
	var over <-chan struct{}
	if p.Life != nil {
		over = p.Life.Done()
	}
	for {
		select {
		case <-ended:
			return
		case <-timer.C:
			return
		case <-over:
			h, over = haltOf(p.Life), nil //nolint:contextcheck // the life of the run is longer than that of ctx
			timer.Reset(h.grace(own))
			hurry = h.Hurry
		case <-hurry:
			timer.Reset((&Halt{Grace: ShortGrace}).grace(own))
			hurry = nil
		}
	}
}

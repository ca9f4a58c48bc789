package process

import (
	"testing"
	"time"
)

// look is how often a condition is looked at.
const look = 5 * time.Millisecond

// Await waits until the condition holds, and fails the test when it does not
// within the time.
func Await(tb testing.TB, within time.Duration, what string, holds func() bool) {
	tb.Helper()
	limit := time.NewTimer(within)
	defer limit.Stop()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-limit.C:
			tb.Fatalf("not within %s: %s", within, what)
		}
	}
}

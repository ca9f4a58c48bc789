// Package patience holds the one limit of the tests: how long they wait for something that must happen.
// The limit only ends a test that would hang. No test measures speed with it.
package patience

import (
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Env names the variable with the factor by which the limit is multiplied on a slow machine: 1 or more.
const Env = "FERMATA_TEST_PATIENCE"

const (
	// base is enough for the longest wait on a busy machine.
	base = 4 * time.Minute
	// look is the time between two checks of a condition. It is not shorter, because many conditions ask a server or a
	// database.
	look = 25 * time.Millisecond
)

var limit = sync.OnceValue(func() time.Duration {
	d, err := scale(os.Getenv(Env))
	if err != nil {
		panic(err)
	}
	return d
})

// Limit returns how long to wait. It panics if [Env] is set to something else than a factor.
func Limit() time.Duration { return limit() }

func scale(text string) (time.Duration, error) {
	if text == "" {
		return base, nil
	}
	factor, err := strconv.ParseFloat(text, 64)
	if err != nil || !(factor >= 1) || factor > float64(math.MaxInt64/int64(base)) {
		return 0, fmt.Errorf("%s is %q: set it to a factor of 1 or more, such as 3, or unset it", Env, text)
	}
	return time.Duration(factor * float64(base)), nil
}

// Await waits until the condition holds, and fails the test at once if that takes longer than the limit.
func Await(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	if !Until(holds) {
		tb.Fatalf("not within %s: %s", Limit(), what)
	}
}

// Until waits until the condition holds, and returns false if that takes longer than the limit. Use it in code that has
// no testing.TB.
func Until(holds func() bool) bool {
	end := time.NewTimer(Limit())
	defer end.Stop()
	tick := time.NewTicker(look)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-end.C:
			return holds()
		}
	}
	return true
}

// Receive returns the next value of the channel, or the zero value if the channel is closed. It fails the test at once
// if no value comes within the limit.
func Receive[T any](tb testing.TB, what string, from <-chan T) T {
	tb.Helper()
	end := time.NewTimer(Limit())
	defer end.Stop()
	select {
	case v := <-from:
		return v
	case <-end.C:
		tb.Fatalf("not within %s: %s", Limit(), what)
		panic("unreachable")
	}
}

// Context returns a context of the test that ends after the limit.
func Context(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), Limit())
	tb.Cleanup(cancel)
	return ctx
}

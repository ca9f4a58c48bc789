package engine

import (
	"testing"
	"time"
)

// All waiters together check at about the same rate, however many there are and
// whatever they wait for.
func TestManyThatWaitLookSeldom(t *testing.T) {
	t.Parallel()
	for name, topic := range map[string]func(i int) string{
		"for one question":   func(int) string { return "question:1" },
		"for many questions": func(i int) string { return string(rune('a' + i)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub()
			var all []*waiter
			for i := range 10 * waitersPerInterval {
				w, n := h.register(topic(i))
				if want := max(1, (i+1)/waitersPerInterval); scaleInterval(rescanInterval, n) != rescanInterval*time.Duration(want) {
					t.Fatalf("number %d rescans after %s", i+1, scaleInterval(rescanInterval, n))
				}
				all = append(all, w)
			}
			for _, w := range all {
				h.unregister(w)
			}
			if w, n := h.register("last"); n != 1 {
				t.Errorf("%d wait where %v waits alone", n, w.topics)
			}
		})
	}
}

package terminal

import (
	"testing"
)

func TestCountText(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 events", 1: "1 event", 2: "2 events"} {
		if got := CountText(n, "event"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

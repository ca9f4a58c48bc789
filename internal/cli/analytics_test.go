package cli

import (
	"testing"
)

func TestLengthsAsPeopleReadThem(t *testing.T) {
	t.Parallel()
	for s, want := range map[float64]string{
		0: "0s", 0.045: "0.045s", 42.1: "42.1s", 59.9: "59.9s", 60: "1min", 751: "12.5min", 3600: "1h", 90_000: "25h", 200_000: "2.3d",
	} {
		if got := formatSeconds(s); got != want {
			t.Errorf("%v seconds are %q, want %q", s, got, want)
		}
	}
}

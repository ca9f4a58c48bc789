package terminal

import (
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", 61 * time.Second: "1m1s", 10*time.Minute + time.Second: "10m",
		time.Hour: "1h", 25*time.Hour + time.Minute: "1d1h", 90 * time.Minute: "1h30m",
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("span(%s): got %s, want %s", d, got, want)
		}
	}
}

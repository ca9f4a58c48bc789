package patience

import (
	"strings"
	"testing"
)

func TestScale(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"": 1, "1": 1, "1.5": 1.5, "10": 10} {
		if got, err := scale(text); err != nil || got.Seconds() != want*base.Seconds() {
			t.Errorf("%q: got %s and %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "0.9", "-1", "much", "NaN", "Inf", "1e300", "2m", " 2"} {
		if got, err := scale(text); err == nil || !strings.Contains(err.Error(), Env) {
			t.Errorf("%q: got %s and %v, want an error that names the variable", text, got, err)
		}
	}
}

func TestUntil(t *testing.T) {
	t.Parallel()
	looks := 0
	if !Until(func() bool { looks++; return looks == 3 }) || looks != 3 {
		t.Errorf("it looked %d times, want 3", looks)
	}
}

func TestReceiveFromAClosedChannel(t *testing.T) {
	t.Parallel()
	closed := make(chan int)
	close(closed)
	if got := Receive(t, "the end", closed); got != 0 {
		t.Errorf("got %d", got)
	}
}

package chat

import (
	"encoding/json"
	"testing"

	"github.com/fermata-hq/fermata"
)

// A run without a result says why, where more is known than that its worker was lost.
func TestALostRunSaysWhy(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		`{"attempts":1}`: "the worker was lost",
		`{"attempts":1,"summary":"the server was away when the lease ended"}`: "the run was lost: the server was away when the lease ended",
	} {
		if got := otherEventText(&fermata.Event{Type: fermata.EventRunLost, Data: json.RawMessage(data)}); got != want {
			t.Errorf("%s: %q, want %q", data, got, want)
		}
	}
}

package fermata_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

// TestInstant checks that every accepted instant can be formatted again.
func TestInstant(t *testing.T) {
	t.Parallel()
	west, east := time.FixedZone("west", -23*3600), time.FixedZone("east", 23*3600)
	for _, at := range []time.Time{noon, time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)} {
		if err := fermata.CheckInstant("until", at); err != nil {
			t.Errorf("%v: %v", at, err)
		}
	}
	for _, at := range []time.Time{time.Date(9999, 12, 31, 23, 0, 0, 0, west), time.Date(0, 1, 1, 1, 0, 0, 0, east)} {
		wantError(t, fermata.CheckInstant("until", at), fermata.CodeInvalidRequest, "until")
		_, err := fermata.NewTask{Title: "a", DeferUntil: &at}.Create("task_1", fermata.SystemActor, noon)
		wantError(t, err, fermata.CodeInvalidRequest, "defer_until")
	}
}

package workflow

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// TestManyMissedTimes catches up after years of missed times. Only the newest
// are started, and not every minute is counted.
func TestManyMissedTimes(t *testing.T) {
	t.Parallel()
	cron, err := definition.ParseCron("* * * * *", "UTC")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 22, 12, 0, 30, 0, time.UTC)
	for _, missed := range []time.Duration{50 * time.Minute, 2001 * time.Minute, 3000 * 24 * time.Hour} {
		next := now.Add(-missed).Truncate(time.Minute)
		for catchup, most := range map[string]int{definition.CatchupNone: 1, definition.CatchupLatest: 1, definition.CatchupAll: maxMissed} {
			times := dueTimes(cron, &store.Schedule{NextAt: &next, Catchup: catchup, CatchupAge: 4000 * 24 * time.Hour}, now)
			want := min(most, int(missed/time.Minute)+1)
			if len(times) != want || !times[len(times)-1].Equal(now.Truncate(time.Minute)) {
				t.Errorf("%s after %s: %d times, want %d", catchup, missed, len(times), want)
			}
		}
	}
}

package definition_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

func TestCron(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, expr, zone, after string
		want                    []string // in the zone
	}{
		{"every six hours", "0 */6 * * *", "", "2026-11-22T01:00:00Z", []string{"2026-11-22T06:00:00Z", "2026-11-22T12:00:00Z", "2026-11-22T18:00:00Z", "2026-11-23T00:00:00Z"}},
		{"the minute itself is over", "30 9 * * *", "UTC", "2026-11-22T09:30:00Z", []string{"2026-11-23T09:30:00Z"}},
		{"seconds count", "30 9 * * *", "UTC", "2026-11-22T09:29:59.999Z", []string{"2026-11-22T09:30:00Z"}},
		{"working days", "0 9 * * 1-5", "Europe/Berlin", "2026-11-20T12:00:00Z", []string{"2026-11-23T09:00:00+01:00", "2026-11-24T09:00:00+01:00"}},
		{"names", "0 9 * JAN MON", "UTC", "2026-11-20T12:00:00Z", []string{"2027-01-04T09:00:00Z"}},
		{"day of month or of week", "0 0 13 * 5", "UTC", "2026-11-20T12:00:00Z", []string{"2026-11-27T00:00:00Z", "2026-12-04T00:00:00Z", "2026-12-11T00:00:00Z", "2026-12-13T00:00:00Z"}},
		{"leap day", "0 0 29 2 *", "UTC", "2026-11-20T12:00:00Z", []string{"2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"}},

		{"New York, skipped", "30 2 * * *", "America/New_York", "2026-03-07T12:00:00-05:00", []string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"}},
		{"New York, doubled", "30 1 * * *", "America/New_York", "2026-10-31T12:00:00-04:00", []string{"2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"}},
		{"New York, between the two", "30 1 * * *", "America/New_York", "2026-11-01T01:10:00-05:00", []string{"2026-11-02T01:30:00-05:00"}},
		{"New York, all that was skipped is one time", "*/20 2 * * *", "America/New_York", "2026-03-07T12:00:00-05:00", []string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:00:00-04:00"}},
		{"New York, skipped onto a time of its own", "0 2,3 * * *", "America/New_York", "2026-03-08T00:00:00-05:00", []string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:00:00-04:00"}},
		{"New York, every hour has no gap", "30 * * * *", "America/New_York", "2026-11-01T00:45:00-04:00", []string{"2026-11-01T01:30:00-04:00", "2026-11-01T01:30:00-05:00", "2026-11-01T02:30:00-05:00"}},
		{"New York, every half hour, forward", "*/30 * * * *", "America/New_York", "2026-03-08T01:10:00-05:00", []string{"2026-03-08T01:30:00-05:00", "2026-03-08T03:00:00-04:00", "2026-03-08T03:30:00-04:00"}},
		{"New York, every half hour, back", "*/30 * * * *", "America/New_York", "2026-11-01T01:10:00-04:00", []string{"2026-11-01T01:30:00-04:00", "2026-11-01T01:00:00-05:00", "2026-11-01T01:30:00-05:00", "2026-11-01T02:00:00-05:00"}},

		{"Lord Howe, half an hour skipped", "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00+10:30", []string{"2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"}},
		{"Lord Howe, half an hour doubled", "45 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00:00+11:00", []string{"2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"}},
		{"Lord Howe, not in the doubled half", "15 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00:00+11:00", []string{"2026-04-05T01:15:00+11:00", "2026-04-06T01:15:00+10:30"}},

		{"Santiago, midnight skipped", "0 0 * * *", "America/Santiago", "2026-09-05T12:00:00-04:00", []string{"2026-09-06T01:00:00-03:00", "2026-09-07T00:00:00-03:00"}},
		{"Santiago, the hour before midnight doubled", "30 23 * * *", "America/Santiago", "2026-04-04T12:00:00-03:00", []string{"2026-04-04T23:30:00-03:00", "2026-04-05T23:30:00-04:00"}},
		{"Beirut, midnight skipped", "0 0 * * 0", "Asia/Beirut", "2026-03-27T12:00:00+02:00", []string{"2026-03-29T01:00:00+03:00", "2026-04-05T00:00:00+03:00"}},
		{"Apia, a day skipped", "0 12 * * *", "Pacific/Apia", "2011-12-29T00:00:00-10:00", []string{"2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00", "2011-12-31T12:00:00+14:00"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := definition.ParseCron(tt.expr, tt.zone)
			if err != nil {
				t.Fatal(err)
			}
			at, err := time.Parse(time.RFC3339Nano, tt.after)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range tt.want {
				want, err := time.Parse(time.RFC3339, text)
				if err != nil {
					t.Fatal(err)
				}
				next := c.Next(at)
				if !next.Equal(want) || next.Location() != time.UTC {
					t.Fatalf("after %v comes %v, want %v", at, next, want.UTC())
				}
				at = next
			}
		})
	}
}

// Around every clock change, the next time is after the given instant. It is
// the same from every instant in between.
func TestCronIsSteady(t *testing.T) {
	t.Parallel()
	for zone, changes := range map[string][]string{
		"America/New_York":    {"2026-03-08T05:30:00Z", "2026-11-01T04:30:00Z"},
		"Australia/Lord_Howe": {"2026-10-03T14:00:00Z", "2026-04-04T13:30:00Z"},
		"America/Santiago":    {"2026-09-06T02:30:00Z", "2026-04-05T01:30:00Z"},
	} {
		for _, expr := range []string{"*/10 * * * *", "*/15 1,2 * * *", "0 0 * * *", "59 23 * * *"} {
			c, err := definition.ParseCron(expr, zone)
			if err != nil {
				t.Fatal(err)
			}
			for _, change := range changes {
				at, err := time.Parse(time.RFC3339, change)
				if err != nil {
					t.Fatal(err)
				}
				for range 25 {
					next, probe := c.Next(at), at
					if !next.After(at) {
						t.Fatalf("%s in %s: after %v comes %v", expr, zone, at, next)
					}
					for range 3 {
						probe = probe.Add(next.Sub(probe) / 2)
						if got := c.Next(probe); !got.Equal(next) {
							t.Fatalf("%s in %s: after %v comes %v, but after %v %v", expr, zone, at, next, probe, got)
						}
					}
					at = next
				}
			}
		}
	}
}

func TestCronRefuses(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{"", "* * * *", "* * * * * *", "@daily", "60 * * * *", "* 24 * * *", "* * 32 * *", "* * 0 * *", "* * * 13 *", "* * * 0 *", "* * * * 8", "a * * * *", "*/0 * * * *", "5-1 * * * *", "1- * * * *", "0 0 30 2 *", "-1 * * * *", "1,,2 * * * *"} {
		if _, err := definition.ParseCron(expr, "UTC"); err == nil {
			t.Errorf("%q was taken", expr)
		}
	}
	for _, zone := range []string{"Mars/X", "Local", "../etc/passwd", "local"} {
		if _, err := definition.ParseCron("* * * * *", zone); err == nil {
			t.Errorf("%q was taken", zone)
		}
	}
}

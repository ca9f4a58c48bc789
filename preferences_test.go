package fermata_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

// parseIn parses a local time in a time zone.
func parseIn(t *testing.T, zone, s string) time.Time {
	t.Helper()
	loc, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.ParseInLocation("2006-01-02 15:04", s, loc)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestQuietHours(t *testing.T) {
	t.Parallel()
	const berlin = "Europe/Berlin"
	night := fermata.QuietHours{From: "22:00", To: "07:00"}
	weekend := fermata.QuietHours{From: "00:00", To: "23:59", Days: []string{"sat", "sun"}}
	for _, tt := range []struct {
		name, zone, now, want string
		quiet                 fermata.QuietHours
	}{
		{"before", berlin, "2026-06-10 21:59", "2026-06-10 21:59", night},
		{"in the evening", berlin, "2026-06-10 22:00", "2026-06-11 07:00", night},
		{"after midnight", berlin, "2026-06-11 03:00", "2026-06-11 07:00", night},
		{"at the end", berlin, "2026-06-11 07:00", "2026-06-11 07:00", night},
		{"by day", berlin, "2026-06-11 12:30", "2026-06-11 13:00", fermata.QuietHours{From: "12:00", To: "13:00"}},
		{"another zone", "Asia/Kolkata", "2026-06-10 23:00", "2026-06-11 07:00", night},
		// 2026-06-12 is a Friday. The hours that begin on it last into Saturday.
		{"only on weekdays", berlin, "2026-06-13 03:00", "2026-06-13 07:00", fermata.QuietHours{From: "22:00", To: "07:00", Days: []string{"fri"}}},
		{"not on weekends", berlin, "2026-06-13 23:00", "2026-06-13 23:00", fermata.QuietHours{From: "22:00", To: "07:00", Days: []string{"fri"}}},
		{"all of Saturday", berlin, "2026-06-13 10:00", "2026-06-13 23:59", weekend},
		// Clocks go forward at 02:00 on 2026-03-29, and back at 03:00 on 2026-10-25.
		{"a short night", berlin, "2026-03-28 23:00", "2026-03-29 07:00", night},
		{"a long night", berlin, "2026-10-24 23:00", "2026-10-25 07:00", night},
		{"ends at an hour that is not there", berlin, "2026-03-29 01:30", "2026-03-29 03:00", fermata.QuietHours{From: "22:00", To: "02:30"}},
		// In Chile, clocks go forward at midnight to 2026-09-06, a Sunday. In Egypt, they do so to 2026-04-24.
		{"a midnight that is not there", "America/Santiago", "2026-09-06 01:30", "2026-09-06 07:00", fermata.QuietHours{From: "00:00", To: "07:00"}},
		{"on a day without midnight", "America/Santiago", "2026-09-06 10:00", "2026-09-06 23:59", weekend},
		{"ends at a midnight that is not there", "America/Santiago", "2026-09-05 23:00", "2026-09-06 01:00", fermata.QuietHours{From: "22:00", To: "00:30"}},
		{"a night without midnight", "America/Santiago", "2026-09-05 23:00", "2026-09-06 07:00", night},
		{"a night without midnight in the east", "Africa/Cairo", "2026-04-24 01:30", "2026-04-24 07:00", night},
		{"an hour that comes twice", berlin, "2026-10-25 01:30", "2026-10-25 07:00", fermata.QuietHours{From: "01:00", To: "07:00"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := fermata.Preferences{Zone: tt.zone, Quiet: &tt.quiet}
			now, want := parseIn(t, tt.zone, tt.now), parseIn(t, tt.zone, tt.want)
			if got := p.QuietUntil(now, false); !got.Equal(want) {
				t.Errorf("not before %s, want %s", got.In(want.Location()), want)
			}
			p.Quiet.Urgent = true
			if got := p.QuietUntil(now, true); !got.Equal(now) {
				t.Errorf("an urgent one waits until %s", got)
			}
		})
	}
}

func TestNextDigest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		every           fermata.DigestFrequency
		zone, now, want string
	}{
		{fermata.DigestHourly, "Europe/Berlin", "2026-06-10 21:59", "2026-06-10 22:00"},
		{fermata.DigestHourly, "Asia/Kolkata", "2026-06-10 21:00", "2026-06-10 22:00"},
		{fermata.DigestDaily, "Europe/Berlin", "2026-06-10 08:59", "2026-06-10 09:00"},
		{fermata.DigestDaily, "Europe/Berlin", "2026-06-10 09:00", "2026-06-11 09:00"},
		{fermata.DigestDaily, "Europe/Berlin", "2026-03-28 12:00", "2026-03-29 09:00"},
		{fermata.DigestDaily, "America/Santiago", "2026-09-06 10:00", "2026-09-07 09:00"},
	} {
		p := fermata.Preferences{Zone: tt.zone, Digest: tt.every}
		got, ok := p.NextDigest(parseIn(t, tt.zone, tt.now))
		if want := parseIn(t, tt.zone, tt.want); !ok || !got.Equal(want) {
			t.Errorf("%s after %s: %s, want %s", tt.every, tt.now, got, want)
		}
	}
	if _, ok := (fermata.Preferences{Digest: fermata.DigestOff}).NextDigest(noon); ok {
		t.Error("there is a digest for who wants none")
	}
}

func TestPreferencesAreChecked(t *testing.T) {
	t.Parallel()
	for field, p := range map[string]fermata.Preferences{
		"zone":          {Zone: "Mars/Olympus"},
		"digest":        {Digest: "weekly"},
		"quiet.from":    {Quiet: &fermata.QuietHours{From: "25:00", To: "07:00"}},
		"quiet.to":      {Quiet: &fermata.QuietHours{From: "22:00", To: "22:00"}},
		"quiet.days[0]": {Quiet: &fermata.QuietHours{From: "22:00", To: "07:00", Days: []string{"Monday"}}},
		"channels":      {Channels: map[string]fermata.ChannelPreference{"No Name": {}}},
	} {
		hasProblem(t, p.Check(), field)
	}
	hasProblem(t, fermata.Preferences{Zone: "Local"}.Check(), "zone")
	if err := (fermata.Preferences{Zone: "America/New_York", Digest: fermata.DigestDaily}).Check(); err != nil {
		t.Error(err)
	}
}

func TestWants(t *testing.T) {
	t.Parallel()
	p := fermata.Preferences{Channels: map[string]fermata.ChannelPreference{
		"slack": {Blocking: ptr(false), Progress: ptr(true)}, "team": {Blocking: ptr(true)},
	}}
	if p.Wants("other", "slack", fermata.Blocking) || !p.Wants("team", "slack", fermata.Blocking) || !p.Wants("other", "slack", fermata.Approval) ||
		!p.WantsProgress("other", "slack") || p.WantsProgress("mail", "email") {
		t.Error("the wishes are not followed")
	}
}

// hasProblem checks that an error names the field.
func hasProblem(t *testing.T, err error, field string) {
	t.Helper()
	var e *fermata.Error
	if !asError(err, &e) {
		t.Errorf("no problem with %s: %v", field, err)
		return
	}
	for _, p := range e.Problems {
		if p.Field == field {
			return
		}
	}
	t.Errorf("no problem with %s: %+v", field, e.Problems)
}

func TestQuietHoursAndDeadlines(t *testing.T) {
	t.Parallel()
	night := func(urgent bool, d fermata.QuietDeadlines) fermata.Preferences {
		return fermata.Preferences{Quiet: &fermata.QuietHours{From: "22:00", To: "07:00", Urgent: urgent, Deadlines: d}}
	}
	asked := time.Date(2026, 11, 20, 23, 0, 0, 0, time.UTC)
	morning := time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)
	soon, later := asked.Add(time.Hour), asked.Add(24*time.Hour)
	tests := []struct {
		name     string
		p        fermata.Preferences
		typ      fermata.QuestionType
		deadline *time.Time
		want     time.Time
	}{
		{"urgent, with a deadline in the night", night(false, ""), fermata.Blocking, &soon, asked},
		{"urgent, with a deadline on the next day", night(false, ""), fermata.Blocking, &later, morning},
		{"urgent, with a deadline at the very end", night(false, ""), fermata.Blocking, &morning, asked},
		{"urgent, without a deadline", night(false, ""), fermata.Blocking, nil, morning},
		{"urgent ones let through", night(true, fermata.DeadlinesNone), fermata.Approval, &later, asked},
		{"not urgent", night(false, ""), fermata.NonBlocking, &soon, morning},
		{"not urgent, all deadlines count", night(false, fermata.DeadlinesAll), fermata.NonBlocking, &soon, asked},
		{"urgent, no deadline counts", night(false, fermata.DeadlinesNone), fermata.Blocking, &soon, morning},
	}
	for _, tt := range tests {
		q := &fermata.Question{Type: tt.typ, Deadline: tt.deadline}
		if got := tt.p.QuestionQuietUntil(q, asked); !got.Equal(tt.want) {
			t.Errorf("%s: until %s, want %s", tt.name, got, tt.want)
		}
		sleeps := tt.deadline != nil && !tt.want.Before(*tt.deadline)
		if got := tt.p.MissesDeadline(q, asked); got != sleeps {
			t.Errorf("%s: sleeps through: %v", tt.name, got)
		}
	}
	goesOn := &fermata.Question{Type: fermata.NonBlocking, Deadline: &soon, Asked: fermata.Asked{Escalation: []fermata.EscalationLevel{{}}}}
	if night(false, "").MissesDeadline(goesOn, asked) {
		t.Error("a question that goes on to others is not slept through")
	}
}

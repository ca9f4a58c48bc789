package fermata

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Preferences say how a member wants to be reached.
type Preferences struct {
	// Zone is the member's time zone. If empty, it is UTC.
	Zone     string          `json:"zone" doc:"IANA name, such as Europe/Berlin; empty is UTC"`
	Language string          `json:"language,omitempty" maxLength:"35" doc:"BCP 47 tag"`
	Quiet    *QuietHours     `json:"quiet,omitempty"`
	Digest   DigestFrequency `json:"digest" enum:"off,hourly,daily" doc:"gathers questions of low urgency; daily: at 09:00"`
	// Channels holds switches by channel or kind of channel, and by the type of
	// message. A missing switch means on, so that the route decides. Only
	// progress is off by default.
	Channels map[string]ChannelPreference `json:"channels,omitempty"`
}

// ChannelPreference says which messages a member wants over one channel.
type ChannelPreference struct {
	Blocking      *bool `json:"blocking,omitempty"`
	Approval      *bool `json:"approval,omitempty"`
	ErrorRecovery *bool `json:"error_recovery,omitempty"`
	NonBlocking   *bool `json:"non_blocking,omitempty"`
	Progress      *bool `json:"progress,omitempty"`
}

// QuietHours are the hours in which the member does not want to be disturbed,
// in the member's time zone.
type QuietHours struct {
	From string `json:"from" doc:"22:00"`
	To   string `json:"to" doc:"07:00; before from: on the next day"`
	// Days are the days on which the hours begin. If empty, they begin every day.
	Days []string `json:"days,omitempty" doc:"mon, tue, wed, thu, fri, sat, sun; the days on which they begin; empty: every day"`
	// Urgent lets questions through that stop a task.
	Urgent bool `json:"urgent" doc:"true lets urgent questions through"`
	// Deadlines says which questions come through because their deadline would
	// pass before the hours end.
	Deadlines QuietDeadlines `json:"deadlines,omitempty" enum:"urgent,all,none" doc:"which questions come through whose deadline would pass within the hours; default urgent"`
}

// QuietDeadlines says which questions come through quiet hours because their
// deadline would pass within the hours.
type QuietDeadlines string

// Choices of which deadlines override quiet hours.
const (
	// DeadlinesUrgent is the default. It lets questions through that stop a task.
	DeadlinesUrgent QuietDeadlines = "urgent"
	DeadlinesAll    QuietDeadlines = "all"
	DeadlinesNone   QuietDeadlines = "none"
)

// DigestFrequency says how often questions of low urgency are sent together.
type DigestFrequency string

// Frequencies of digests.
const (
	DigestOff    DigestFrequency = "off"
	DigestHourly DigestFrequency = "hourly"
	DigestDaily  DigestFrequency = "daily"
)

// digestHour is the hour of a daily digest, in the member's time zone.
const digestHour = 9

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// Check returns an error that lists every problem of the preferences.
func (p Preferences) Check() error {
	var ps problems
	if _, err := loadLocation(p.Zone); err != nil {
		ps.add("zone", "%q is no time zone; write it like Europe/Berlin", p.Zone)
	}
	ps.checkText("language", p.Language, 0, 35)
	ps.checkOneOf("digest", string(p.Digest), []string{string(DigestOff), string(DigestHourly), string(DigestDaily)})
	for _, name := range slices.Sorted(maps.Keys(p.Channels)) {
		ps.checkChannelName("channels", name)
	}
	if len(p.Channels) > MaxChannels*2 {
		ps.add("channels", "has %d channels, may have at most %d", len(p.Channels), MaxChannels*2)
	}
	if p.Quiet != nil {
		p.Quiet.check(&ps)
	}
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

func (q *QuietHours) check(ps *problems) {
	from, errFrom := parseClock(q.From)
	to, errTo := parseClock(q.To)
	if errFrom != nil {
		ps.add("quiet.from", "%s", errFrom)
	}
	if errTo != nil {
		ps.add("quiet.to", "%s", errTo)
	}
	if errFrom == nil && errTo == nil && from == to {
		ps.add("quiet.to", "is the same as from: the hours would never end")
	}
	ps.checkOneOf("quiet.deadlines", string(q.Deadlines), []string{string(DeadlinesUrgent), string(DeadlinesAll), string(DeadlinesNone)})
	for i, day := range q.Days {
		if !slices.Contains(weekdays, day) {
			ps.add(elementName("quiet.days", i), "is %q, must be one of mon, tue, wed, thu, fri, sat, sun", day)
		}
	}
}

// parseClock returns a time of day in minutes after midnight.
func parseClock(s string) (int, error) {
	t, err := time.Parse("15:04", s)
	if err != nil || len(s) != len("15:04") {
		return 0, fmt.Errorf("%q is no time of the day; write it like 22:00", s)
	}
	return t.Hour()*60 + t.Minute(), nil
}

// loadLocation returns a time zone by its name. It refuses the server's own zone,
// because no member can mean that one.
func loadLocation(zone string) (*time.Location, error) {
	if zone == "Local" {
		return nil, fmt.Errorf("%q is the server's own zone", zone)
	}
	return time.LoadLocation(zone)
}

func (p Preferences) location() *time.Location {
	loc, err := loadLocation(p.Zone)
	if err != nil {
		// The zone was checked when it was set. If the system does not know it,
		// it counts as UTC.
		return time.UTC
	}
	return loc
}

// Wants reports whether the member wants questions of a type over a channel. A
// switch of the channel itself overrides one of its kind.
func (p Preferences) Wants(channel, kind string, t QuestionType) bool {
	for _, name := range []string{channel, kind} {
		c, ok := p.Channels[name]
		if !ok {
			continue
		}
		if on := c.forType(t); on != nil {
			return *on
		}
	}
	return true
}

// WantsProgress reports whether the member wants progress reports over a
// channel. They are off unless the member switched them on.
func (p Preferences) WantsProgress(channel, kind string) bool {
	for _, name := range []string{channel, kind} {
		if on := p.Channels[name].Progress; on != nil {
			return *on
		}
	}
	return false
}

// WantsAnyProgress reports whether the member switched progress reports on for any channel.
func (p Preferences) WantsAnyProgress() bool {
	for _, c := range p.Channels {
		if c.Progress != nil && *c.Progress {
			return true
		}
	}
	return false
}

func (c ChannelPreference) forType(t QuestionType) *bool {
	switch t {
	case Approval:
		return c.Approval
	case ErrorRecovery:
		return c.ErrorRecovery
	case NonBlocking:
		return c.NonBlocking
	default:
		return c.Blocking
	}
}

// QuietUntil returns the instant before which the member does not want to be
// disturbed. It is now, or the end of the quiet hours.
func (p Preferences) QuietUntil(now time.Time, urgent bool) time.Time {
	if p.Quiet == nil || urgent && p.Quiet.Urgent {
		return now
	}
	// Quiet hours that touch count as one, for example those of a weekday and
	// of the weekend.
	end := now
	for range 8 {
		next := p.Quiet.end(end, p.location())
		if !next.After(end) {
			return TruncateTime(end)
		}
		end = next
	}
	return TruncateTime(end)
}

// QuestionQuietUntil returns the instant before which the member does not want to get
// the question. It is now, or the end of the quiet hours. If the deadline would
// pass before that end, the quiet hours decide whether the question comes
// through.
func (p Preferences) QuestionQuietUntil(q *Question, now time.Time) time.Time {
	urgent := q.Type.Urgency() == UrgencyHigh
	until := p.QuietUntil(now, urgent)
	if until.After(now) && q.Deadline != nil && !until.Before(*q.Deadline) && p.Quiet.letsDeadlineThrough(urgent) {
		return now
	}
	return until
}

// MissesDeadline reports whether a question that is sent at this instant reaches
// the member only after its last deadline.
func (p Preferences) MissesDeadline(q *Question, at time.Time) bool {
	return q.Deadline != nil && q.EscalationLevel == len(q.Escalation) && !p.QuestionQuietUntil(q, at).Before(*q.Deadline)
}

// letsDeadlineThrough reports whether a deadline overrides the quiet hours.
func (q *QuietHours) letsDeadlineThrough(urgent bool) bool {
	switch q.Deadlines {
	case DeadlinesAll:
		return true
	case DeadlinesNone:
		return false
	default:
		return urgent
	}
}

// end returns the end of the quiet hours that contain the instant. It returns
// the instant itself if none do.
func (q *QuietHours) end(now time.Time, loc *time.Location) time.Time {
	from, errFrom := parseClock(q.From)
	to, errTo := parseClock(q.To)
	if errFrom != nil || errTo != nil {
		return now
	}
	local := now.In(loc)
	// Quiet hours that began yesterday may still last.
	for daysBack := 1; daysBack >= 0; daysBack-- {
		day := noonOfDay(local, -daysBack)
		if len(q.Days) > 0 && !slices.Contains(q.Days, weekdays[day.Weekday()]) {
			continue
		}
		begins, ends := timeOnDay(day, from), timeOnDay(day, to)
		if to <= from {
			ends = timeOnDay(noonOfDay(day, 1), to)
		}
		if !now.Before(begins) && now.Before(ends) {
			return ends
		}
	}
	return now
}

// noonOfDay returns noon of the day that is the given number of days after the
// instant's own day. Noon is safe: on a day when clocks go forward at midnight,
// there is no midnight.
func noonOfDay(local time.Time, days int) time.Time {
	return time.Date(local.Year(), local.Month(), local.Day()+days, 12, 0, 0, 0, local.Location())
}

// timeOnDay returns the instant of a time of day on the given day. If the
// clocks skip this time, it returns the instant at which they go forward. If
// the time occurs twice, it returns the first one.
func timeOnDay(day time.Time, minutes int) time.Time {
	t := time.Date(day.Year(), day.Month(), day.Day(), 0, minutes, 0, 0, day.Location())
	switch got := t.Hour()*60 + t.Minute(); {
	case got < minutes, t.Day() != day.Day():
		_, forward := t.ZoneBounds()
		return forward
	case got > minutes:
		forward, _ := t.ZoneBounds()
		return forward
	}
	return t
}

// NextDigest returns the instant of the next digest, and false if the member wants none.
func (p Preferences) NextDigest(now time.Time) (time.Time, bool) {
	switch p.Digest {
	case DigestHourly:
		// A zone with an offset of half an hour has its own full hours.
		local := now.In(p.location())
		sinceFullHour := time.Duration(local.Minute())*time.Minute + time.Duration(local.Second())*time.Second + time.Duration(local.Nanosecond())
		return TruncateTime(now.Add(time.Hour - sinceFullHour)), true
	case DigestDaily:
		local := now.In(p.location())
		next := timeOnDay(noonOfDay(local, 0), digestHour*60)
		if !next.After(now) {
			next = timeOnDay(noonOfDay(local, 1), digestHour*60)
		}
		return TruncateTime(next), true
	default:
		return time.Time{}, false
	}
}

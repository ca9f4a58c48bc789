package definition

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/adhocore/gronx"

	"github.com/fermata-hq/fermata"
)

// Cron is a schedule: a cron line in the local time of a zone.
//
// A local time that is skipped when clocks go forward moves to the first minute
// after the gap. For a local time that comes twice when clocks go back, the
// schedule fires only the first time. A schedule for every hour, with * in its
// second field, fires both times, so that no hour is left out.
type Cron struct {
	expr      string
	zone      *time.Location
	everyHour bool
}

// ParseCron parses a line of five fields: minute, hour, day of the month,
// month, and day of the week. zoneName is the name of a time zone; "" is UTC.
func ParseCron(expr, zoneName string) (*Cron, error) {
	loc, err := loadZone(zoneName)
	if err != nil {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "%q is no time zone", zoneName).WithHint("write a name such as Europe/Berlin")
	}
	fields := strings.Fields(expr)
	switch {
	case len(fields) == 1 && strings.HasPrefix(expr, "@"):
		return nil, cronFault(expr, `write the five fields, such as "0 0 * * *" for every midnight`)
	case len(fields) == 6:
		return nil, cronFault(expr, "it has six fields: seconds and years are not taken")
	case len(fields) != 5:
		return nil, cronFault(expr, `it needs five fields: minute, hour, day of month, month, day of week, such as "0 9 * * 1-5"`)
	}
	c := &Cron{expr: strings.Join(fields, " "), zone: loc, everyHour: fields[1] == "*"}
	if !gronx.IsValid(c.expr) {
		return nil, cronFault(expr, `minute 0-59, hour 0-23, day of month 1-31, month 1-12, day of week 0-7, such as "0 9 * * 1-5"`)
	}
	if c.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the schedule %q never comes", expr).WithHint("is there such a day in such a month?")
	}
	return c, nil
}

func cronFault(expr, hint string) error {
	return fermata.Errorf(fermata.CodeInvalidRequest, "%q is no schedule", expr).WithHint("%s", hint)
}

// loadZone returns a time zone by its name. It refuses "local", because its
// meaning depends on the machine.
func loadZone(name string) (*time.Location, error) {
	if strings.EqualFold(name, "local") {
		return nil, errors.New("local is another zone on every machine")
	}
	return time.LoadLocation(name)
}

// messageAndHint returns the message and the hint of an error.
func messageAndHint(err error) (message, hint string) {
	if e, ok := errors.AsType[*fermata.Error](err); ok {
		return e.Message, e.Hint
	}
	return err.Error(), ""
}

// clockChangeWindow is longer than any change of the clocks.
const clockChangeWindow = 3 * time.Hour

// maxTries limits the search. It is enough to step minute by minute through the
// hours around a clock change.
const maxTries = 500

// Next returns the first time after the given one, in UTC. It returns the zero
// time if there is none within some years.
func (c *Cron) Next(after time.Time) time.Time {
	wall := wallOf(after.In(c.zone))
	_, offsetBefore := after.Add(-clockChangeWindow).In(c.zone).Zone()
	_, offsetAfter := after.Add(clockChangeWindow).In(c.zone).Zone()
	if offsetBefore != offsetAfter { // near a clock change, an earlier local time may be a later instant
		wall = wall.Add(-clockChangeWindow)
	}
	var best time.Time
	for range maxTries {
		next, err := gronx.NextTickAfter(c.expr, wall, false)
		if err != nil || !next.After(wall) {
			break
		}
		wall = next
		times := c.times(wall)
		if !best.IsZero() && times[0].After(best) {
			break
		}
		for _, t := range times {
			if t.After(after) && (best.IsZero() || t.Before(best)) {
				best = t
			}
		}
		if !best.IsZero() && offsetBefore == offsetAfter {
			break
		}
	}
	if best.IsZero() {
		return best
	}
	return best.UTC()
}

// wallOf returns the local time that a clock shows, as a UTC time, because UTC
// has no clock changes.
func wallOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, time.UTC)
}

// times returns the instants at which the clocks of the zone show a local time.
// There may be two, but only a schedule of every hour has both. If the clocks
// skip that time, it returns the first minute after the gap.
func (c *Cron) times(wall time.Time) []time.Time {
	t := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), 0, 0, c.zone)
	start, end := t.ZoneBounds()
	if !wallOf(t).Equal(wall) {
		gap := end
		if wallOf(t).After(wall) { // t is after the gap already
			gap = start
		}
		return []time.Time{firstMinute(gap)}
	}
	both := []time.Time{t}
	for _, at := range []time.Time{start.Add(-time.Second), end} {
		if other, ok := c.instantAt(wall, at); ok && !other.Equal(t) {
			both = append(both, other)
		}
	}
	slices.SortFunc(both, time.Time.Compare)
	if !c.everyHour {
		return both[:1]
	}
	return both
}

// instantAt returns the instant of a local time under the UTC offset that holds
// at an instant. It reports whether the clocks show the local time at the
// returned instant.
func (c *Cron) instantAt(wall, at time.Time) (time.Time, bool) {
	_, offset := at.In(c.zone).Zone()
	t := wall.Add(-time.Duration(offset) * time.Second).In(c.zone)
	_, own := t.Zone()
	return t, own == offset && wallOf(t).Equal(wall)
}

// firstMinute returns the first full minute at or after t.
func firstMinute(t time.Time) time.Time {
	if whole := t.Truncate(time.Minute); whole.Equal(t) {
		return t
	}
	return t.Truncate(time.Minute).Add(time.Minute)
}

package fermata

import (
	"slices"
	"time"
)

// defaultReminders are the reminders of a question whose session Fermata resumes, if the policy sets none.
var defaultReminders = []string{"1h", "1d"}

const (
	defaultRemindEvery Timeout = "7d"
	// minRemindEvery is the shortest interval, so that repeated reminders do
	// not become noise.
	minRemindEvery = time.Hour
)

// reminders returns the times of reminders of a question whose session Fermata
// resumes, and the interval of further ones. An empty interval means no further
// reminders.
func (p Policy) reminders() ([]string, Timeout) {
	list, every := p.Reminders, p.RemindEvery
	if list == nil {
		list = defaultReminders
	}
	switch every {
	case "":
		every = defaultRemindEvery
	case Never:
		every = ""
	default:
		// The policy sets the interval.
	}
	return slices.Clone(list), every
}

// checkReminders checks the times of a question's reminders.
func (ps *problems) checkReminders(reminders []string) {
	if len(reminders) > MaxReminders {
		ps.add("reminders", "has %d reminders, may have at most %d", len(reminders), MaxReminders)
	}
	for i, s := range reminders {
		switch d, err := parseDelay(s); {
		case err != nil:
			ps.addError(elementName("reminders", i), err)
		case d == 0:
			ps.add(elementName("reminders", i), "must be later than the question itself")
		case slices.Contains(reminders[:i], s):
			ps.add(elementName("reminders", i), "%q stands twice", s)
		}
	}
}

// ReminderDelays returns the times of the question's reminders, counted from
// asking, in ascending order.
func (q *Question) ReminderDelays() []time.Duration {
	var all []time.Duration
	for _, s := range q.Reminders {
		if d, err := parseDelay(s); err == nil {
			all = append(all, d)
		}
	}
	slices.Sort(all)
	return all
}

// checkRemindEvery checks the interval of further reminders.
func (ps *problems) checkRemindEvery(every Timeout) {
	if every == "" || every == Never {
		return
	}
	if d, err := every.Duration(); err != nil {
		ps.addError("remind_every", err)
	} else if d < minRemindEvery || d > maxDelay*12 {
		ps.add("remind_every", "%q is no pause between reminders: it must be from 1h to 360d, or never", every)
	}
}

// NextRepeatedReminder returns the instant of the first repeated reminder after t.
// Repeated reminders follow the question's list of reminders. It returns false
// if the question has none.
func (q *Question) NextRepeatedReminder(t time.Time) (time.Time, bool) {
	every, err := q.RemindEvery.Duration()
	if err != nil {
		return time.Time{}, false
	}
	last := q.CreatedAt
	if listed := q.ReminderDelays(); len(listed) > 0 {
		last = last.Add(listed[len(listed)-1])
	}
	if elapsed := t.Sub(last); elapsed >= 0 {
		last = last.Add(elapsed - elapsed%every)
	}
	return TruncateTime(last.Add(every)), true
}

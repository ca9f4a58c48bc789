package fermata

import (
	"slices"
	"time"
)

// Reminders of a question whose session Fermata resumes, where the policy says nothing
// else.
var usualReminders = []string{"1h", "1d"}

const (
	usualRemindEvery Timeout = "7d"
	// leastRemindEvery keeps a repeated reminder from becoming noise.
	leastRemindEvery = time.Hour
)

// reminders returns when people are reminded of a question whose session Fermata
// resumes, and how often after that; empty is not again.
func (p Policy) reminders() ([]string, Timeout) {
	list, every := p.Reminders, p.RemindEvery
	if list == nil {
		list = usualReminders
	}
	switch every {
	case "":
		every = usualRemindEvery
	case Never:
		every = ""
	default:
		// The policy says how often.
	}
	return slices.Clone(list), every
}

// reminders checks when to remind of a question.
func (ps *problems) reminders(reminders []string) {
	if len(reminders) > MaxReminders {
		ps.add("reminders", "has %d reminders, may have at most %d", len(reminders), MaxReminders)
	}
	for i, s := range reminders {
		switch d, err := delay(s); {
		case err != nil:
			ps.add(elementName("reminders", i), "%s", err)
		case d == 0:
			ps.add(elementName("reminders", i), "must be later than the question itself")
		case slices.Contains(reminders[:i], s):
			ps.add(elementName("reminders", i), "%q stands twice", s)
		}
	}
}

// RemindAfter returns how long after asking people are reminded, in order.
func (q *Question) RemindAfter() []time.Duration {
	var all []time.Duration
	for _, s := range q.Reminders {
		if d, err := delay(s); err == nil {
			all = append(all, d)
		}
	}
	slices.Sort(all)
	return all
}

// remindEvery checks how often to remind again.
func (ps *problems) remindEvery(every Timeout) {
	if every == "" || every == Never {
		return
	}
	if d, err := every.Duration(); err != nil {
		ps.add("remind_every", "%s", err)
	} else if d < leastRemindEvery || d > longestDelay*12 {
		ps.add("remind_every", "%q is no pause between reminders: it must be from 1h to 360d, or never", every)
	}
}

// NextRepeat returns the first instant after t at which people are reminded of the
// question again, after its list of reminders, and false where they are not.
func (q *Question) NextRepeat(t time.Time) (time.Time, bool) {
	every, err := q.RemindEvery.Duration()
	if err != nil {
		return time.Time{}, false
	}
	last := q.CreatedAt
	if listed := q.RemindAfter(); len(listed) > 0 {
		last = last.Add(listed[len(listed)-1])
	}
	if past := t.Sub(last); past >= 0 {
		last = last.Add(past - past%every)
	}
	return Cut(last.Add(every)), true
}

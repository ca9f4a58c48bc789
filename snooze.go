package fermata

import "time"

// Snooze is a request to hide a question from one person for some time. If both
// fields are empty, the question is shown again.
type Snooze struct {
	Until *time.Time `json:"until,omitempty"`
	For   Timeout    `json:"for,omitempty" maxLength:"20" doc:"30m, 2h, 3d"`
}

// maxSnooze is the longest time for which a person may snooze a question.
const maxSnooze = 365 * 24 * time.Hour

// End returns the instant until which the question is snoozed, or nil to show
// it again. It refuses a snooze past the deadline, because the person would
// miss the deadline without knowing.
func (s Snooze) End(q *Question, now time.Time) (*time.Time, error) {
	if s.Until != nil && s.For != "" {
		return nil, Invalid(Problem{Field: "for", Message: "give either until or for"})
	}
	field, until := "until", s.Until
	if s.For != "" {
		d, err := s.For.DurationOfField("for")
		if err != nil {
			return nil, err
		}
		end := now.Add(d)
		field, until = "for", &end
	}
	if until == nil {
		return nil, nil
	}
	end := TruncateTime(until.UTC())
	switch {
	case q.Status != Pending:
		return nil, q.ClosedError()
	case !end.After(now):
		return nil, Invalid(Problem{Field: field, Message: "must lie in the future"})
	case end.Sub(now) > maxSnooze:
		return nil, Invalid(Problem{Field: field, Message: "is more than a year away"})
	case q.Deadline != nil && !end.Before(*q.Deadline):
		return nil, Invalid(Problem{Field: field, Message: "must lie before the deadline, " + q.Deadline.Format(time.RFC3339)}).
			WithHint("put the deadline off first, or give the question to somebody else")
	}
	return &end, nil
}

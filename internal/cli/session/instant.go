package session

import (
	"time"

	"github.com/fermata-hq/fermata"
)

// Period holds the flags that bound a period of time.
type Period struct {
	From string `placeholder:"TIME" help:"Since then: 7d ago, a date or an instant."`
	To   string `placeholder:"TIME" help:"Until before then."`
}

// Bounds returns the beginning and the end of the period. A bound that was not given is nil.
func (p Period) Bounds(s *Session) (from, to *time.Time, err error) {
	if from, err = s.parsePastInstant(p.From); err != nil {
		return nil, nil, err
	}
	to, err = s.parsePastInstant(p.To)
	return from, to, err
}

// parsePastInstant reads a point in time as [Session.ParseInstant] does, but takes a
// duration as a time ago.
func (s *Session) parsePastInstant(text string) (*time.Time, error) {
	if d, err := fermata.Timeout(text).Duration(); err == nil {
		at := s.Now().Add(-d)
		return &at, nil
	}
	return s.ParseInstant(text)
}

// ParseInstant reads a point in time: a duration from now, RFC 3339, or a date. For
// an empty text it returns nil.
func (s *Session) ParseInstant(text string) (*time.Time, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // nil means that no time was given
	}
	if d, err := fermata.Timeout(text).Duration(); err == nil {
		at := s.Now().Add(d)
		return &at, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return &at, nil
		}
	}
	return nil, fermata.Errorf(fermata.CodeInvalidRequest, "%q is no point in time", text).
		WithHint("write 2h, 3d, 2027-01-31 or 2027-01-31T09:00:00Z")
}

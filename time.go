package fermata

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Timeout is how long a question waits: a duration such as "90s", "30m", "36h"
// or "3d", or "never". If empty, the default of the question's type applies.
type Timeout string

// Never is the timeout of a question that waits until a person answers.
const Never Timeout = "never"

// Duration returns the length of the timeout. It returns an error for "never"
// and for any text that is not a positive duration.
func (t Timeout) Duration() (time.Duration, error) {
	d, err := parseDuration(string(t))
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, Errorf(CodeInvalidRequest, "%q is too long", string(t)).WithHint("write at most 100000d, or never")
	case err != nil:
		return 0, Errorf(CodeInvalidRequest, "%q is no duration", string(t)).WithHint(durationHint)
	case d <= 0:
		return 0, Errorf(CodeInvalidRequest, "%q must be more than 0", string(t)).WithHint(longerHint)
	}
	return d, nil
}

// longerHint is the hint for a duration that is not more than 0.
const longerHint = `write a longer time, such as "90s"`

const durationHint = `write a number and a unit, such as "90s", "30m", "36h" or "3d"`

// DurationOfField returns the length of the timeout. The error names the field of the request.
func (t Timeout) DurationOfField(field string) (time.Duration, error) {
	d, err := t.Duration()
	if refusal, ok := errors.AsType[*Error](err); ok {
		return 0, Invalid(Problem{Field: field, Message: refusal.Message}).WithHint("%s", refusal.Hint)
	}
	return d, nil
}

// parseDuration parses a Go duration, or a number of whole days such as "3d".
func parseDuration(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil {
			return 0, strconv.ErrSyntax
		}
		if n > 100_000 {
			return 0, strconv.ErrRange
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	return time.ParseDuration(s)
}

// CheckInstant returns an error for an instant that RFC 3339 cannot express.
// Such an instant could be stored, but no list that contains it could be sent.
func CheckInstant(field string, t time.Time) error {
	var ps problems
	ps.checkInstant(field, &t)
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

func (ps *problems) checkInstant(field string, t *time.Time) {
	if t == nil {
		return
	}
	if year := t.UTC().Year(); year < 0 || year > 9999 {
		ps.add(field, "must lie within the years 0 to 9999")
	}
}

// checkFuture checks an instant like [problems.checkInstant], and that it is after now.
func (ps *problems) checkFuture(field string, t *time.Time, now time.Time) {
	before := len(*ps)
	ps.checkInstant(field, t)
	if t != nil && len(*ps) == before && !t.After(now) {
		ps.add(field, "must be in the future")
	}
}

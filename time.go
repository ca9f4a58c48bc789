package fermata

import (
	"strconv"
	"strings"
	"time"
)

// Timeout is how long a question waits: a duration such as "90s", "30m",
// "36h" or "3d", or "never". Empty takes the default of the question's type.
type Timeout string

// Never is the timeout of a question that waits until somebody answers.
const Never Timeout = "never"

// Duration returns the length of the timeout. It is an error for "never" and
// for anything that is not a positive duration.
func (t Timeout) Duration() (time.Duration, error) {
	d, err := parseDuration(string(t))
	if err != nil || d <= 0 {
		return 0, Errorf(CodeInvalidRequest, "%q is no duration", string(t)).
			WithHint(`write a number and a unit, such as "90s", "30m", "36h" or "3d", or "never"`)
	}
	return d, nil
}

// parseDuration reads a Go duration, and whole days as "3d".
func parseDuration(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n > 100_000 {
			return 0, strconv.ErrSyntax
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	return time.ParseDuration(s)
}

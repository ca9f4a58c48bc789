package outbound

import (
	"net/http"
	"strconv"
	"time"
)

// RetryAfter returns how long a reply asks to wait (RFC 9110 §10.2.3), given as
// seconds or as a date. The result is at most maxWait, and 0 if the header has no
// valid value.
func RetryAfter(header string, now time.Time, maxWait time.Duration) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.Atoi(header); err == nil {
		wait = time.Duration(min(seconds, int(maxWait/time.Second))) * time.Second
	} else if at, err := http.ParseTime(header); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), maxWait)
}

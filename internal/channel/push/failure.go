package push

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/outbound"
)

const (
	// longestWait bounds what a push service may ask for.
	longestWait = 24 * time.Hour
	// longestReason is how much of a refusal is kept.
	longestReason = 300
)

// failure is why a push service did not take a message.
type failure struct {
	error
	after           time.Duration
	permanent, gone bool
	status          int
}

// RetryAfter is how long the service asks to wait.
func (f *failure) RetryAfter() time.Duration { return f.after }

// Permanent reports whether trying again cannot help.
func (f *failure) Permanent() bool { return f.permanent }

// Gone reports whether the device has unsubscribed: it is to be forgotten.
func (f *failure) Gone() bool { return f.gone }

// Unwrap returns the error with its hint.
func (f *failure) Unwrap() error { return f.error }

func tooLarge(err error) bool {
	var f *failure
	return errors.As(err, &f) && f.status == http.StatusRequestEntityTooLarge
}

// judge reads what a push service replied (RFC 8030, 5 and 7.3; RFC 8292, 2.3
// and 4.2).
func judge(r *http.Response) error {
	switch status := r.StatusCode; {
	case status >= 200 && status < 300:
		return nil
	case status == http.StatusNotFound || status == http.StatusGone:
		return &failure{permanent: true, gone: true, status: status, error: fermata.Errorf(fermata.CodeNotFound, "the browser takes no more messages: its subscription ended").
			WithHint("open the settings on that device and switch notifications on again")}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return &failure{permanent: true, status: status, error: fermata.Errorf(fermata.CodeForbidden, "the push service refused this server's key (%d%s)", status, reason(r)).
			WithHint("the device was added with another key, or the contact is not accepted: add the device again, and set subject to an address of mail or https")}
	case status == http.StatusRequestEntityTooLarge:
		return &failure{permanent: true, status: status, error: fermata.Errorf(fermata.CodeInternal, "the push service finds the message too large")}
	case status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status >= 500:
		return &failure{after: outbound.RetryAfter(r.Header.Get("Retry-After"), time.Now(), longestWait), status: status, error: fermata.Errorf(fermata.CodeUnavailable, "the push service asks to come back later (%d)", status)}
	default:
		return &failure{permanent: true, status: status, error: fermata.Errorf(fermata.CodeInvalidRequest, "the push service refused the message (%d%s)", status, reason(r))}
	}
}

// reason is what the service said, on one line.
func reason(r *http.Response) string {
	body, err := io.ReadAll(io.LimitReader(r.Body, longestReason))
	text := strings.TrimSpace(plain(string(body)))
	if err != nil || text == "" {
		return ""
	}
	return ": " + text
}

package push

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/outbound"
)

const (
	// longestWait is the longest wait that a push service may ask for.
	longestWait = 24 * time.Hour
	// longestReason is how many bytes of a refusal are kept.
	longestReason = 300
)

// errTooLarge means that a service accepts less than the standard's 4096 bytes.
var errTooLarge = errors.New("the push service finds the message too large")

// checkResponse turns the response of a push service into an error (RFC 8030, 5 and
// 7.3; RFC 8292, 2.3 and 4.2).
func checkResponse(r *http.Response) error {
	switch status := r.StatusCode; {
	case status >= 200 && status < 300:
		return nil
	case status == http.StatusNotFound || status == http.StatusGone:
		return &notice.SendError{Final: true, Ended: true, Err: fermata.Errorf(fermata.CodeNotFound, "the browser takes no more messages: its subscription ended").
			WithHint("open the settings on that device and switch notifications on again")}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return notice.Permanent(fermata.Errorf(fermata.CodeForbidden, "the push service refused this server's key (%d%s)", status, reason(r)).
			WithHint("the device was added with another key, or the contact is not accepted: add the device again, and set subject to an address of mail or https"))
	case status == http.StatusRequestEntityTooLarge:
		return notice.Permanent(errTooLarge)
	case status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status >= 500:
		return &notice.SendError{Wait: outbound.RetryAfter(r.Header.Get("Retry-After"), time.Now(), longestWait), Err: fermata.Errorf(fermata.CodeUnavailable, "the push service asks to come back later (%d)", status)}
	default:
		return notice.Permanent(fermata.Errorf(fermata.CodeInvalidRequest, "the push service refused the message (%d%s)", status, reason(r)))
	}
}

// reason returns the text of the response on one line.
func reason(r *http.Response) string {
	body, err := io.ReadAll(io.LimitReader(r.Body, longestReason))
	text := strings.TrimSpace(plainText(string(body)))
	if err != nil || text == "" {
		return ""
	}
	return ": " + text
}

package delivery

import (
	"errors"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// failureOf returns the [notice.SendError] that a channel reported, or the zero
// value if the channel reported none.
func failureOf(err error) notice.SendError {
	var f *notice.SendError
	if errors.As(err, &f) {
		return *f
	}
	return notice.SendError{}
}

// isPermanent reports whether another try cannot succeed.
func isPermanent(err error) bool { return failureOf(err).Final }

func retryAfter(err error) time.Duration { return failureOf(err).Wait }

func isGone(err error) bool { return failureOf(err).Ended }

func isUnknownRecipient(err error) bool { return failureOf(err).UnknownPerson }

// errorText returns a text that says what is wrong, with the remedy.
func errorText(err error) string {
	var e *fermata.Error
	if errors.As(err, &e) && e.Hint != "" {
		return err.Error() + "; " + e.Hint
	}
	return err.Error()
}

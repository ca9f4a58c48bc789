package tool

import (
	"errors"
	"time"

	"github.com/fermata-hq/fermata"
)

// failure is an error with a code and a hint. It also says whether a retry can
// help.
type failure struct {
	err       *fermata.Error
	permanent bool
}

var _ Failure = (*failure)(nil)

// Error returns the message of the error.
func (f *failure) Error() string { return f.err.Error() }

// Permanent implements [Failure].
func (f *failure) Permanent() bool { return f.permanent }

// RetryAfter implements [Failure].
func (f *failure) RetryAfter() time.Duration { return f.err.RetryAfter }

// Unwrap returns the error with its code and hint.
func (f *failure) Unwrap() error { return f.err }

// Permanent returns a failure that a retry cannot fix.
func Permanent(err *fermata.Error) error { return &failure{err: err, permanent: true} }

// Transient returns a failure that a retry may fix, after the RetryAfter of the
// error if it is set.
func Transient(err *fermata.Error) error { return &failure{err: err} }

// safeError is an error after which another call repeats no effect.
type safeError struct{ error }

func (s safeError) Unwrap() error { return s.error }

// MarkSafeToRetry marks an error after which another call repeats no effect: the
// call did nothing, or doing it twice changes nothing more.
func MarkSafeToRetry(err error) error { return safeError{err} }

// IsSafeToRetry reports whether an error was marked by [MarkSafeToRetry].
func IsSafeToRetry(err error) bool {
	_, is := errors.AsType[safeError](err)
	return is
}

package tool

import (
	"errors"
	"time"

	"github.com/fermata-hq/fermata"
)

// failure is an error with code and hint, and with what a retry can do about it.
type failure struct {
	err       *fermata.Error
	permanent bool
}

var _ Failure = (*failure)(nil)

// Error returns what is wrong.
func (f *failure) Error() string { return f.err.Error() }

// Permanent implements [Failure].
func (f *failure) Permanent() bool { return f.permanent }

// RetryAfter implements [Failure].
func (f *failure) RetryAfter() time.Duration { return f.err.RetryAfter }

// Unwrap returns the error with code and hint.
func (f *failure) Unwrap() error { return f.err }

// Hopeless returns the failure that no retry mends.
func Hopeless(err *fermata.Error) error { return &failure{err: err, permanent: true} }

// Passing returns the failure that may be gone at the next try, after the
// error's RetryAfter if it names one.
func Passing(err *fermata.Error) error { return &failure{err: err} }

// safe is an error after which a further call repeats no effect.
type safe struct{ error }

func (s safe) Unwrap() error { return s.error }

// SafeToRetry marks an error after which a further call repeats no effect: nothing
// was done, or doing it twice does no more.
func SafeToRetry(err error) error { return safe{err} }

// IsSafeToRetry reports whether an error is marked so.
func IsSafeToRetry(err error) bool {
	_, is := errors.AsType[safe](err)
	return is
}

package notice

import (
	"errors"
	"time"
)

// SendError says why a channel did not send a message, and how to continue. A
// channel that must know more about a refusal embeds it.
type SendError struct {
	// Err says what is wrong. Its hint is the remedy.
	Err error
	// Wait is how long the remote system asks to wait. It is 0 if the system
	// does not say.
	Wait time.Duration
	// Final reports whether a retry cannot help, because the address or the
	// settings are wrong.
	Final bool
	// Ended reports whether the device has ended its subscription, or the
	// remote end wants no further messages from the channel.
	Ended bool
	// UnknownPerson reports whether the remote system does not know the person.
	UnknownPerson bool
	// MayHaveArrived reports whether the message may have arrived. If so, the next
	// attempt is made even if the question closes before it, and that attempt
	// says how the question ended.
	MayHaveArrived bool
	// NeverArrived reports whether the question has closed and no part of its message had arrived. Then nobody needs to
	// be told how it ended.
	NeverArrived bool
}

// Permanent returns an error that no retry can repair.
func Permanent(err error) *SendError { return &SendError{Err: err, Final: true} }

// NothingArrived returns the error of a channel that had to send a message, but
// found the question closed and no earlier message to correct.
func NothingArrived() *SendError {
	return &SendError{Err: errors.New("the question has closed, and nothing of the message arrived"), Final: true, NeverArrived: true}
}

// Error says what is wrong.
func (e *SendError) Error() string { return e.Err.Error() }

// Unwrap returns the error with its code and hint.
func (e *SendError) Unwrap() error { return e.Err }

// RetryAfter returns how long the remote system asks to wait. Tools that use a
// channel's client rely on it, too.
func (e *SendError) RetryAfter() time.Duration { return e.Wait }

// Permanent reports whether a retry cannot help. Tools rely on it, too.
func (e *SendError) Permanent() bool { return e.Final }

package notice

import (
	"errors"
	"time"
)

// SendError is why a channel did not take a message, and how it goes on. A
// channel that must know more of a refusal embeds it.
type SendError struct {
	// Err says what is wrong; its hint is the remedy.
	Err error
	// After is how long the remote system asks to wait; 0 for no word.
	After time.Duration
	// Final says that trying again cannot help: the address is wrong, or the
	// settings are.
	Final bool
	// Ended says that the device has ended its subscription, or that the remote
	// end wants nothing more from the channel.
	Ended bool
	// Unknown says that the remote system does not know the person.
	Unknown bool
	// Unsure says that the message may have arrived: if its question closes before
	// the next try, that try is made all the same, and tells the end.
	Unsure bool
	// Absent says that of a message whose question has closed meanwhile nothing
	// had arrived: there is nobody to tell the end.
	Absent bool
}

// Hopeless is a failure that no retry mends.
func Hopeless(err error) *SendError { return &SendError{Err: err, Final: true} }

// NothingArrived is what a channel returns that was to send a message, found
// its question closed and no earlier try to correct.
func NothingArrived() *SendError {
	return &SendError{Err: errors.New("the question has closed, and nothing of the message arrived"), Final: true, Absent: true}
}

// Error says what is wrong.
func (e *SendError) Error() string { return e.Err.Error() }

// Unwrap returns the error with its code and hint.
func (e *SendError) Unwrap() error { return e.Err }

// RetryAfter is how long the remote system asks to wait, also for tools that
// work over a channel's client.
func (e *SendError) RetryAfter() time.Duration { return e.After }

// Permanent says that trying again cannot help, also for tools.
func (e *SendError) Permanent() bool { return e.Final }

package notice

import "time"

// Failure is why a channel did not take a message, and how it goes on. A
// channel that must know more of a refusal embeds it.
type Failure struct {
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
}

// Hopeless is a failure that no retry mends.
func Hopeless(err error) *Failure { return &Failure{Err: err, Final: true} }

// Error says what is wrong.
func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the error with its code and hint.
func (f *Failure) Unwrap() error { return f.Err }

// RetryAfter is how long the remote system asks to wait; 0 for no word.
func (f *Failure) RetryAfter() time.Duration { return f.After }

// Permanent says that trying again cannot help.
func (f *Failure) Permanent() bool { return f.Final }

package store

import (
	"errors"
	"time"

	"github.com/fermata-hq/fermata"
)

// Trouble is the reason why the database takes no writes, in words for an operator.
type Trouble struct { //nolint:errname // it is a state of the database that is reported to operators
	// Reason is a text that says what happened.
	Reason string
	// Hint is a text that says what to do.
	Hint string
	// Since is when the trouble began.
	Since time.Time
	// Stopped reports whether no write is tried until the server is started again.
	Stopped bool
	// Malformed reports whether the database lacks data that was written to it.
	Malformed bool
	// full reports whether the disk has no space.
	full bool
	// shownByFiles reports whether the files themselves show the trouble. This is stronger evidence than the error of a
	// statement.
	shownByFiles bool
	// cause is the error of the driver.
	cause error
}

// Error returns the reason, so that a Trouble can be returned as an error.
func (t *Trouble) Error() string { return t.Reason }

// Unwrap returns the error of the driver.
func (t *Trouble) Unwrap() error { return t.cause }

// Cause returns the text of the driver's error for the log.
func (t *Trouble) Cause() string {
	if t.cause == nil {
		return ""
	}
	return t.cause.Error()
}

// Refusal returns the error for a caller whose write is refused because of the trouble.
func (t *Trouble) Refusal() error {
	e := fermata.Errorf(fermata.CodeUnavailable, "%w", t)
	e.Hint = t.Hint
	e.RetryAfter = time.Second
	return e
}

// Hints for operators.
const (
	hintStopped = "Fermata writes nothing until it is started again. See what the system says about the disk (dmesg), " +
		"then restart the server: it checks the database before it serves"
	hintMalformed = "Fermata writes nothing any more. Stop the server, keep a copy of its data folder, and restore the newest backup " +
		"(docs/operate/backup.md)"
	hintFull     = "free space on the disk of the database; Fermata goes on by itself"
	hintRemount  = "see what the system says about the disk (dmesg), make its file system writable again, then restart the server: it checks the database before it serves"
	hintReadOnly = "make the file system of the database writable, then restart the server"
)

// troubleOf returns the trouble that an error carries, or nil if it carries none.
func troubleOf(err error) *Trouble {
	t, _ := errors.AsType[*Trouble](err)
	return t
}

// temporaryTrouble returns a trouble that may pass by itself.
func temporaryTrouble(reason, hint string, cause error) *Trouble {
	return &Trouble{Reason: reason, Hint: hint, cause: cause}
}

// diskFullTrouble returns the trouble of a write that found no space. It may pass by itself.
func diskFullTrouble(reason string, cause error) *Trouble {
	t := temporaryTrouble(reason, hintFull, cause)
	t.full = true
	return t
}

// stopTrouble returns a trouble after which nothing may be written.
func stopTrouble(reason string, cause error) *Trouble {
	return &Trouble{Reason: reason, Hint: hintStopped, Stopped: true, cause: cause}
}

// damageTrouble returns the trouble of a malformed database whose files show the damage.
func damageTrouble(reason string, cause error) *Trouble {
	t := malformedTrouble(reason, cause)
	t.shownByFiles = true
	return t
}

// malformedTrouble returns the trouble of a database that lacks data that was written to it.
func malformedTrouble(reason string, cause error) *Trouble {
	return &Trouble{Reason: reason, Hint: hintMalformed, Stopped: true, Malformed: true, cause: cause}
}

package store

import (
	"errors"
	"time"

	"github.com/fermata-hq/fermata"
)

// Trouble says why the database takes no writes, in words for an operator.
type Trouble struct { //nolint:errname // it is a state of the database that operators are told of
	// Reason says what happened.
	Reason string
	// Hint says what to do.
	Hint string
	// Since is when it began.
	Since time.Time
	// Stopped reports that no write is tried any more until the server is started again.
	Stopped bool
	// Malformed reports that the database does not hold what was written.
	Malformed bool
	// full reports that the disk has no space.
	full bool
	// seen reports that the files themselves show it, which says more than what a statement met.
	seen bool
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

// Refusal is what a caller is told.
func (t *Trouble) Refusal() error {
	e := fermata.Errorf(fermata.CodeUnavailable, "%w", t)
	e.Hint = t.Hint
	e.RetryAfter = time.Second
	return e
}

// Hints of troubles.
const (
	hintStopped = "Fermata writes nothing until it is started again. See what the system says about the disk (dmesg), " +
		"then restart the server: it checks the database before it serves"
	hintMalformed = "Fermata writes nothing any more. Stop the server, keep a copy of its data folder, and restore the newest backup " +
		"(docs/operations.md, Faults)"
	hintFull     = "free space on the disk of the database; Fermata goes on by itself"
	hintRemount  = "see what the system says about the disk (dmesg), make its file system writable again, then restart the server: it checks the database before it serves"
	hintReadOnly = "make the file system of the database writable, then restart the server"
)

// troubleOf returns the trouble that an error carries; nil when it carries none.
func troubleOf(err error) *Trouble {
	t, _ := errors.AsType[*Trouble](err)
	return t
}

// passing is an error that may pass by itself.
func passing(reason, hint string, cause error) *Trouble {
	return &Trouble{Reason: reason, Hint: hint, cause: cause}
}

// fullDisk is the error of a write that found no space; it may pass by itself.
func fullDisk(reason string, cause error) *Trouble {
	t := passing(reason, hintFull, cause)
	t.full = true
	return t
}

// stopError is an error after which nothing may be written.
func stopError(reason string, cause error) *Trouble {
	return &Trouble{Reason: reason, Hint: hintStopped, Stopped: true, cause: cause}
}

// damageError is a malformed database whose files show what was done to them.
func damageError(reason string, cause error) *Trouble {
	t := malformed(reason, cause)
	t.seen = true
	return t
}

// malformed is the error of a database that does not hold what was written.
func malformed(reason string, cause error) *Trouble {
	return &Trouble{Reason: reason, Hint: hintMalformed, Stopped: true, Malformed: true, cause: cause}
}

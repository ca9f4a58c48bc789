//go:build !linux

package store

import "time"

// started is when the program started.
var started = time.Now()

// elapsed returns the time since the program started, by a clock that nobody
// can set. It depends on the system whether this clock counts the time in which
// the machine sleeps.
func elapsed() time.Duration { return time.Since(started) }

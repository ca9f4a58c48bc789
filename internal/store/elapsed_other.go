//go:build !linux

package store

import "time"

// started is when the program started.
var started = time.Now()

// elapsed is the time since the program started, by a clock that nobody can
// set. Systems differ in whether it counts the time in which the machine sleeps.
func elapsed() time.Duration { return time.Since(started) }

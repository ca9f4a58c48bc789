package store

import (
	"time"

	"golang.org/x/sys/unix"
)

// elapsed is the time since the machine started. It counts the time in which the
// machine sleeps, so that the clock of a laptop that wakes up did not jump.
func elapsed() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		// Linux has had this clock since 2.6.39.
		panic("store: read the time since the start of the machine: " + err.Error())
	}
	return time.Duration(t.Nano())
}

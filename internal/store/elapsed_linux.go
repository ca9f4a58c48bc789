package store

import (
	"time"

	"golang.org/x/sys/unix"
)

// elapsed returns the time since the machine started. It includes the time in
// which the machine sleeps. Otherwise the clock of a laptop that wakes up would
// seem to jump.
func elapsed() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		// Linux has had this clock since 2.6.39.
		panic("store: read the time since the start of the machine: " + err.Error())
	}
	return time.Duration(t.Nano())
}

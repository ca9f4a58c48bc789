//go:build bug_stop_without_kill

package process

import "time"

// grace is wrong on purpose: the suites must find that a stopped program goes on for as long as its own grace lasts.
func (h *Halt) grace(own time.Duration) time.Duration { return own }

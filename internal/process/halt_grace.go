//go:build !bug_stop_without_kill

package process

import (
	"cmp"
	"time"
)

// grace returns how long a program with its own grace may take to stop.
func (h *Halt) grace(own time.Duration) time.Duration { return min(cmp.Or(h.Grace, own), own) }

//go:build !bug_stop_without_kill

package process

import (
	"cmp"
	"time"
)

// grace returns how long a program may take to stop that has its own grace.
func (h *Halt) grace(own time.Duration) time.Duration { return min(cmp.Or(h.Grace, own), own) }

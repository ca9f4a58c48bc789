package seams

import "time"

// pace is how long a world waits.
type pace struct {
	// busy is added to what is promised, because the machine may be busy.
	busy time.Duration
	// settles is how long a task may take to come to rest.
	settles time.Duration
}

// hears is how long a sequence waits at its end until agents have read what was said to them.
func (p pace) hears() time.Duration { return promised + p.busy }

// gone is how long agents may take to exit after their tasks have ended. It is longer
// than any law allows, so that the laws see the late ones.
func (p pace) gone() time.Duration { return 2*promised + p.busy + graceOfPause }

package seams

import "time"

// pace is how long a world waits.
type pace struct {
	// busy is added to the promised times, because the machine may be busy.
	busy time.Duration
	// settles is how long a task may take to come to rest.
	settles time.Duration
}

// hears returns how long the end of a sequence waits until agents have read their messages.
func (p pace) hears() time.Duration { return promised + p.busy }

// gone returns how long agents may take to exit after their tasks have ended. It is longer than any law allows, so that
// the laws see agents that exit late.
func (p pace) gone() time.Duration { return 2*promised + p.busy + graceOfPause }

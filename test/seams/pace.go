package seams

import "time"

// pace holds the time limits of a world.
type pace struct {
	// busy is added to the promised times, because the machine may be busy.
	busy time.Duration
	// restTimeout is how long a task may take until it is at rest.
	restTimeout time.Duration
}

// hearTimeout returns how long the end of a sequence waits until agents have read their messages.
func (p pace) hearTimeout() time.Duration { return maxDelay + p.busy }

// exitTimeout returns how long agents may take to exit after their tasks have ended. It is longer than any law allows, so
// that the laws see agents that exit late.
func (p pace) exitTimeout() time.Duration { return 2*maxDelay + p.busy + pauseGrace }

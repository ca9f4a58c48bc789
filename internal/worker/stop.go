package worker

import (
	"errors"
	"time"

	"github.com/fermata-hq/fermata/internal/process"
)

// pauseGrace is how long an agent whose task a person paused may take to keep
// its session.
const pauseGrace = 5 * time.Second

// stop ends the run for a reason. The first reason counts, but a run that goes on
// without its task is ended at once, also when it is stopping already.
func (a *attempt) stop(why error) {
	a.stopped.Store(true)
	a.kill(a.halt(why))
	if errors.Is(why, ErrStale) {
		a.once.Do(func() { close(a.hurry) })
	}
}

// halt says how long the agent may take to stop for the reason.
func (a *attempt) halt(why error) *process.Halt {
	h := &process.Halt{Why: why, Hurry: a.hurry}
	switch {
	case errors.Is(why, ErrStale):
		h.Grace = process.ShortGrace
	case errors.Is(why, ErrPaused):
		h.Grace = pauseGrace
	case errors.Is(why, ErrCutOff):
		// It is gone when the lease ends, and another worker begins.
		h.Grace = a.w.margin() / 2
	}
	return h
}

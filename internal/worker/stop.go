package worker

import (
	"context"
	"errors"
	"time"

	"github.com/fermata-hq/fermata"
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
		a.end()
	}
}

// isOver reports whether the task went on without this run: nothing of it counts any more.
func (a *attempt) isOver() bool { return a.over.Err() != nil }

// untilOver returns a context that also ends when nothing of the run counts any more.
func (a *attempt) untilOver(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(a.over, cancel)
	return ctx, func() { stop(); cancel() }
}

// obey stops the run for a reason that the server told.
func (a *attempt) obey(why fermata.StopReason) {
	a.mu.Lock()
	before := a.told
	a.told = why
	a.mu.Unlock()
	switch {
	case why == fermata.StopPaused && !a.away.Load():
		a.stop(ErrPaused)
	case why == fermata.StopLost && before == fermata.StopPaused:
		// A person resumed the task. The next run waits until this agent has kept its session.
	default:
		a.stop(ErrStale)
	}
}

// knownStop is the reason to stop that the server told last.
func (a *attempt) knownStop() fermata.StopReason {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.told
}

// askWhyWithin bounds the call that asks why a run is over: its agent must be gone soon.
const askWhyWithin = time.Second

// stopOvertaken stops a run of which the server said that it is over, without a reason. It asks
// for the reason, because an agent whose task is paused has time to keep its session. A
// run that is stopping already learns from the waiting call whether it has to hurry.
func (a *attempt) stopOvertaken(ctx context.Context) {
	if a.stopped.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askWhyWithin)
	defer cancel()
	why := fermata.StopLost
	reply, err := a.w.server.Attention(ctx, fermata.AttentionRequest{Runs: []fermata.AttentionRun{
		{RunID: a.claim.Run.ID, Token: a.claim.Run.Token, StopsOnly: true},
	}})
	switch {
	case err != nil:
		a.log.Warn("ask why the run is over", "error", err)
	case len(reply.Runs) > 0:
		why = reply.Runs[0].Stop
	}
	a.obey(why)
}

// halt says how long the agent may take to stop for the reason.
func (a *attempt) halt(why error) *process.Halt {
	h := &process.Halt{Why: why, Hurry: a.over.Done()}
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

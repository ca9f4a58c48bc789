package worker

import (
	"context"
	"errors"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/process"
)

// pauseGrace is how long an agent may take to save its session after a person paused its task.
const pauseGrace = 5 * time.Second

// stop ends the run for a reason. The first reason counts. Only a run whose task went on without it is ended at once,
// even if it is stopping already.
func (a *attempt) stop(why error) {
	a.stopped.Store(true)
	a.kill(a.halt(why))
	if errors.Is(why, ErrStale) {
		a.end()
	}
}

// isOver reports whether the task went on without this run. Then nothing that the run does counts.
func (a *attempt) isOver() bool { return a.over.Err() != nil }

// untilOver returns a context that also ends when the task has gone on without this run.
func (a *attempt) untilOver(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(a.over, cancel)
	return ctx, func() { stop(); cancel() }
}

// obey stops the run for a reason that the server sent.
func (a *attempt) obey(why fermata.StopReason) {
	a.mu.Lock()
	before := a.told
	a.told = why
	a.mu.Unlock()
	switch {
	case why == fermata.StopPaused && !a.away.Load():
		a.stop(ErrPaused)
	case why == fermata.StopLost && before == fermata.StopPaused:
		// A person resumed the task. The next run waits until this agent has saved its session.
	default:
		a.stop(ErrStale)
	}
}

// knownStop returns the latest reason to stop that the server sent.
func (a *attempt) knownStop() fermata.StopReason {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.told
}

// askWhyWithin is the time limit of the call that asks why a run is over. It is short, because the agent must be gone
// soon.
const askWhyWithin = time.Second

// stopOvertaken stops a run after the server said, without a reason, that the run is over. It asks for the reason,
// because an agent whose task is paused has time to save its session. A run that is stopping already learns from the
// waiting call whether it has to hurry.
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

// halt returns how long the agent may take to stop for the reason.
func (a *attempt) halt(why error) *process.Halt {
	h := &process.Halt{Why: why, Hurry: a.over.Done()}
	switch {
	case errors.Is(why, ErrStale):
		h.Grace = process.ShortGrace
	case errors.Is(why, ErrPaused):
		h.Grace = pauseGrace
	case errors.Is(why, ErrCutOff):
		// The agent must be gone before the lease ends and another worker begins.
		h.Grace = a.w.margin() / 2
	}
	return h
}

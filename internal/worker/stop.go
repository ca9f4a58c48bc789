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

// stop ends the run for a reason. The first reason counts. As a later reason, only [ErrStale] has an effect: it ends a
// run at once that is stopping already.
func (a *activeRun) stop(why error) {
	a.stopped.Store(true)
	a.kill(a.newHalt(why))
	if errors.Is(why, ErrStale) {
		a.endCurrent()
	}
}

// isOver reports whether the task went on without this run. Then nothing that the run does counts.
func (a *activeRun) isOver() bool { return a.currentCtx.Err() != nil }

// contextUntilOver returns a context that also ends when the task has gone on without this run.
func (a *activeRun) contextUntilOver(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(a.currentCtx, cancel)
	return ctx, func() { stop(); cancel() }
}

// applyStopReason stops the run for a reason that the server sent.
func (a *activeRun) applyStopReason(why fermata.StopReason) {
	a.mu.Lock()
	previous := a.stopReason
	a.stopReason = why
	a.mu.Unlock()
	switch {
	case why == fermata.StopPaused && !a.agentGone.Load():
		a.stop(ErrPaused)
	case why == fermata.StopLost && previous == fermata.StopPaused:
		// A person resumed the task. The next run waits until this agent has saved its session.
	default:
		a.stop(ErrStale)
	}
}

// knownStopReason returns the latest reason to stop that the server sent.
func (a *activeRun) knownStopReason() fermata.StopReason {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stopReason
}

// stopReasonTimeout is the time limit of the call that asks why the task went on without the run. It is short, because
// the agent must be gone soon.
const stopReasonTimeout = time.Second

// stopOvertaken stops a run after the server refused a call as stale, without a reason. It asks for the reason, because
// an agent whose task is paused has time to save its session. A run that is stopping already learns from the waiting
// call whether it must hurry.
func (a *activeRun) stopOvertaken(ctx context.Context) {
	if a.stopped.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, stopReasonTimeout)
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
	a.applyStopReason(why)
}

// newHalt returns the [process.Halt] for the reason: how long the agent may take to stop. The agent has to hurry once
// the task has gone on without this run.
func (a *activeRun) newHalt(why error) *process.Halt {
	h := &process.Halt{Why: why, Hurry: a.currentCtx.Done()}
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

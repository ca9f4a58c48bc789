package worker

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
)

// runHeartbeats renews the lease after every third of it until ctx ends. It sends a heartbeat early in three cases: at
// the start, because the claim may have taken long; when the agent's folder or session is known; and after a reply was
// lost that may have carried messages. It stops the run when the server reports that the task went on without it. It
// also stops the run when the lease could not be renewed, early enough for the agent to be gone when the lease ends.
// Times are monotonic, counted from before the request that renewed the lease; leasedAt is that of the claim.
func (a *activeRun) runHeartbeats(ctx context.Context, leasedAt time.Time) {
	lease := a.w.opts.Lease
	margin := a.w.margin()
	end := leasedAt.Add(lease - margin)
	// The first heartbeat carries the agent's folder, so that its work is found if the worker is stopped.
	if !a.sleepUntilBeat(ctx, min(firstBeatDelay, lease/10)) {
		return
	}
	for {
		if a.isEnded() && end.Sub(a.w.now()) > lease/3 {
			if !a.sleep(ctx, lease/10) {
				return
			}
			continue
		}
		sent := a.w.now()
		err := a.sendHeartbeat(ctx, min(lease/3, end.Sub(a.w.now())))
		next := a.w.beatInterval
		switch {
		case err == nil:
			end = sent.Add(lease - margin)
		case isStale(err):
			a.stopOvertaken(ctx)
			return
		case ctx.Err() != nil:
			return
		default:
			a.log.Warn("renew the lease", "error", err)
			next = min(time.Second, lease/10)
		}
		if !a.sleepUntilBeat(ctx, min(next, end.Sub(a.w.now()))) {
			return
		}
		if !a.w.now().Before(end) {
			a.stop(ErrCutOff)
			return
		}
	}
}

// firstBeatDelay is how long the first heartbeat waits for the working copy.
const firstBeatDelay = time.Second

// margin returns how long before its end a lease that cannot be renewed is given up.
func (w *Worker) margin() time.Duration { return min(w.opts.Grace, w.opts.Lease/4) }

// sendHeartbeat renews the lease once and passes on the messages and answers that reached the task.
func (a *activeRun) sendHeartbeat(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	a.beatMu.Lock()
	defer a.beatMu.Unlock()
	session := a.currentSession(nil)
	digest := fermata.Digest(session)
	h := fermata.Heartbeat{Token: a.claim.Run.Token, LeaseSeconds: a.w.leaseSeconds()}
	if session.Dir != "" && digest != a.sentDigest {
		h.Session = &session
	}
	if a.replyLost {
		received := append([]string{}, a.received...)
		h.Received = &received
	}
	reply, err := a.w.server.Heartbeat(ctx, a.claim.Run.ID, h)
	a.replyLost = err != nil
	if err != nil {
		return err
	}
	a.sentDigest = digest
	if reply.Context != nil && !reply.Context.IsEmpty() {
		a.received = append(a.received, reply.Context.IDs()...)
		a.inbox.put(reply.Context)
	}
	return nil
}

// isEnded reports whether the agent has ended.
func (a *activeRun) isEnded() bool {
	a.beatMu.Lock()
	defer a.beatMu.Unlock()
	return a.ended
}

// sleep waits, and reports whether ctx still lasts.
func (a *activeRun) sleep(ctx context.Context, d time.Duration) bool { return wait(ctx, d, nil) }

// sleepUntilBeat waits like sleep, but ends early when a heartbeat is asked for.
func (a *activeRun) sleepUntilBeat(ctx context.Context, d time.Duration) bool {
	return wait(ctx, d, a.beatRequest)
}

// wait waits for d or until wake has a value, and reports whether ctx still lasts.
func wait(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case <-wake:
	}
	return true
}

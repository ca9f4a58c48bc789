package worker

import (
	"context"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
)

const (
	// attentionWait is how long the server lets one call wait.
	attentionWait = 50 * time.Second
	// gatherRuns is how long runs that begin together are gathered before the
	// waiting call is made anew with them.
	gatherRuns = 150 * time.Millisecond
)

// attention is the one call of this process that waits for news of its runs:
// words of people, and reasons to stop.
type attention struct {
	w  *Worker
	mu sync.Mutex
	// runs are those of this process, by id.
	runs map[string]*attempt
	// changed holds a value when runs began or go on.
	changed chan struct{}
}

func newAttention(w *Worker) *attention {
	return &attention{w: w, runs: map[string]*attempt{}, changed: make(chan struct{}, 1)}
}

// add lets a run have its news until it is removed.
func (n *attention) add(a *attempt) (remove func()) {
	id := a.claim.Run.ID
	n.mu.Lock()
	n.runs[id] = a
	n.mu.Unlock()
	n.change()
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.runs, id)
	}
}

// change says that a run waits which the call does not name.
func (n *attention) change() {
	select {
	case n.changed <- struct{}{}:
	default:
	}
}

// run makes one call after the other until ctx ends.
func (n *attention) run(ctx context.Context) {
	again := backoff{}
	for ctx.Err() == nil {
		waits := n.waitingRuns()
		if len(waits) == 0 {
			select {
			case <-ctx.Done():
			case <-n.changed:
			}
			continue
		}
		err := n.call(ctx, waits)
		if err == nil {
			again = backoff{}
		} else if ctx.Err() == nil {
			n.w.log.Warn("wait for news of the runs", "error", err)
			again.wait(ctx)
		}
	}
}

// waitingRuns are the runs of which there can be news. Those whose agents take no words now
// wait for reasons to stop: a cancellation leaves a stopping agent no more time.
func (n *attention) waitingRuns() []fermata.AttentionRun {
	n.mu.Lock()
	defer n.mu.Unlock()
	var waits []fermata.AttentionRun
	for id, a := range n.runs {
		if len(waits) < fermata.MaxAttentionRuns && !a.isOver() {
			waits = append(waits, fermata.AttentionRun{
				RunID: id, Token: a.claim.Run.Token, Deadline: a.knownDeadline(), Stop: a.knownStop(),
				StopsOnly: a.away.Load() || a.hearing.Load() || a.stopped.Load(),
			})
		}
	}
	return waits
}

// call waits for news of the runs and passes it on. It ends early when a run
// begins that it does not name.
func (n *attention) call(ctx context.Context, waits []fermata.AttentionRun) error {
	call, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{})
	renewed := make(chan bool, 1)
	go func() {
		select {
		case <-ended:
			renewed <- false
		case <-n.changed:
			// Others that begin at the same time come with it.
			wait(call, gatherRuns, ended)
			renewed <- true
			cancel()
		}
	}()
	found, err := n.w.server.Attention(call, fermata.AttentionRequest{Runs: waits, WaitSeconds: int(attentionWait / time.Second)})
	close(ended)
	if <-renewed && err != nil {
		return nil
	}
	if err != nil {
		return err
	}
	n.tell(ctx, found.Runs)
	return nil
}

// tell passes the news on, to all runs at once. A slow run keeps no other waiting: the
// next call goes without it until it has heard.
func (n *attention) tell(ctx context.Context, news []fermata.News) {
	for _, one := range news {
		n.mu.Lock()
		a := n.runs[one.RunID]
		n.mu.Unlock()
		switch {
		case a == nil:
			continue
		case one.Stop != "":
			a.obey(one.Stop)
			continue
		case !a.hearing.CompareAndSwap(false, true):
			continue
		}
		go func() {
			if err := a.hear(ctx, one); err != nil && ctx.Err() == nil {
				n.w.log.Warn("fetch what people wrote", "run", one.RunID, "error", err)
				wait(ctx, hearAgain, nil)
			}
			a.hearing.Store(false)
			n.change()
		}()
	}
}

// hearAgain is how long a run waits for news again after it could not fetch them.
const hearAgain = time.Second

// fetchWithin bounds the heartbeat that fetches what people wrote.
const fetchWithin = 10 * time.Second

// hear takes what people wrote, or a new deadline.
func (a *attempt) hear(ctx context.Context, news fermata.News) error {
	if news.Deadline != nil {
		if a.knowDeadline(*news.Deadline) {
			a.logf("The deadline of the question was moved to %s.", news.Deadline.UTC().Format(time.RFC3339))
		}
	}
	if news.Unread == 0 || a.away.Load() || a.stopped.Load() {
		return nil
	}
	err := a.heartbeat(ctx, fetchWithin)
	if isStale(err) {
		a.stopOvertaken(ctx)
		return nil
	}
	if err != nil {
		// The reply may be lost after the server handed the words over: it tells no more news of them.
		a.beatNow()
	}
	return err
}

// knownDeadline is the deadline of the pending question as far as it is known.
func (a *attempt) knownDeadline() *time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.deadline
}

// knowDeadline notes the deadline, and reports whether another one was known.
func (a *attempt) knowDeadline(at time.Time) (moved bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	moved = a.deadline != nil
	a.deadline = &at
	return moved
}

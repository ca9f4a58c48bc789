package worker

import (
	"context"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
)

const (
	// attentionWait is the longest time for which one call waits on the server.
	attentionWait = 50 * time.Second
	// gatherRuns is how long the worker collects runs that begin together before it repeats the waiting call with them.
	gatherRuns = 150 * time.Millisecond
)

// attention makes the one call of this process that waits for news of its runs: messages, new deadlines and reasons to
// stop.
type attention struct {
	w  *Worker
	mu sync.Mutex
	// runs holds the runs of this process by their ids.
	runs map[string]*attempt
	// changed holds a value when a run begins or can take messages again.
	changed chan struct{}
}

func newAttention(w *Worker) *attention {
	return &attention{w: w, runs: map[string]*attempt{}, changed: make(chan struct{}, 1)}
}

// add makes a run receive its news until remove is called.
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

// change reports that a run waits for news and that the call under way does not name it.
func (n *attention) change() {
	select {
	case n.changed <- struct{}{}:
	default:
	}
}

// run makes one waiting call after the other until ctx ends.
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

// waitingRuns returns the runs that can have news. A run whose agent takes no messages waits only for a reason to stop:
// after a cancellation, an agent that is stopping already gets no more time.
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

// call waits for news of the runs and passes it on. It ends early when a run begins that it does not name.
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
			// Wait for other runs that begin at the same time, so that one call names them all.
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

// tell passes the news on to all runs at the same time. A slow run does not hold up the others: the next calls leave it
// out until it has taken its news.
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

// hearAgain is how long a run waits after it failed to fetch its news.
const hearAgain = time.Second

// fetchWithin is the time limit of the heartbeat that fetches messages.
const fetchWithin = 10 * time.Second

// hear takes in a new deadline and fetches the messages of people.
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
		// The server may have handed the messages over although the reply was lost. It does not announce them again.
		a.beatNow()
	}
	return err
}

// knownDeadline returns the deadline of the pending question, or nil if it is not known.
func (a *attempt) knownDeadline() *time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.deadline
}

// knowDeadline stores the deadline, and reports whether an earlier one was known.
func (a *attempt) knowDeadline(at time.Time) (moved bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	moved = a.deadline != nil
	a.deadline = &at
	return moved
}

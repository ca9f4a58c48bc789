package worker

import (
	"context"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
)

const (
	// maxAttentionWait is the longest time for which one call waits on the server.
	maxAttentionWait = 50 * time.Second
	// gatherDelay is how long the worker collects runs that begin together before it repeats the waiting call with them.
	gatherDelay = 150 * time.Millisecond
)

// attention makes the one call of this process that waits for news of its runs: messages, new deadlines and reasons to
// stop.
type attention struct {
	w  *Worker
	mu sync.Mutex
	// runs holds the runs of this process by their ids.
	runs map[string]*activeRun
	// changed holds a value when a run begins or can take messages again.
	changed chan struct{}
}

func newAttention(w *Worker) *attention {
	return &attention{w: w, runs: map[string]*activeRun{}, changed: make(chan struct{}, 1)}
}

// add makes a run receive its news until remove is called.
func (n *attention) add(a *activeRun) (remove func()) {
	id := a.claim.Run.ID
	n.mu.Lock()
	n.runs[id] = a
	n.mu.Unlock()
	n.signalChange()
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.runs, id)
	}
}

// signalChange reports that a run waits for news and that the call under way does not name it.
func (n *attention) signalChange() {
	select {
	case n.changed <- struct{}{}:
	default:
	}
}

// run makes one waiting call after the other until ctx ends.
func (n *attention) run(ctx context.Context) {
	retry := newBackOff()
	for ctx.Err() == nil {
		runs := n.waitingRuns()
		if len(runs) == 0 {
			select {
			case <-ctx.Done():
			case <-n.changed:
			}
			continue
		}
		err := n.awaitNews(ctx, runs)
		if err == nil {
			retry.Reset()
		} else if ctx.Err() == nil {
			n.w.log.Warn("wait for news of the runs", "error", err)
			pause(ctx, retry)
		}
	}
}

// waitingRuns returns the runs that can have news. A run whose agent takes no messages waits only for a reason to stop:
// after a cancellation, an agent that is stopping already gets no more time.
func (n *attention) waitingRuns() []fermata.AttentionRun {
	n.mu.Lock()
	defer n.mu.Unlock()
	var runs []fermata.AttentionRun
	for id, a := range n.runs {
		if len(runs) < fermata.MaxAttentionRuns && !a.isOver() {
			runs = append(runs, fermata.AttentionRun{
				RunID: id, Token: a.claim.Run.Token, Deadline: a.knownDeadline(), Stop: a.knownStopReason(),
				StopsOnly: a.agentGone.Load() || a.receivingNews.Load() || a.stopped.Load(),
			})
		}
	}
	return runs
}

// awaitNews waits for news of the runs and passes it on. It ends early when a run begins that the call does not name.
func (n *attention) awaitNews(ctx context.Context, runs []fermata.AttentionRun) error {
	callCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{})
	renewed := make(chan bool, 1)
	go func() {
		select {
		case <-ended:
			renewed <- false
		case <-n.changed:
			// Wait for other runs that begin at the same time, so that one call names them all.
			wait(callCtx, gatherDelay, ended)
			renewed <- true
			cancel()
		}
	}()
	found, err := n.w.server.Attention(callCtx, fermata.AttentionRequest{Runs: runs, WaitSeconds: int(maxAttentionWait / time.Second)})
	close(ended)
	if <-renewed && err != nil {
		return nil
	}
	if err != nil {
		return err
	}
	n.passNews(ctx, found.Runs)
	return nil
}

// passNews passes the news on to all runs at the same time. A slow run does not hold up the others: the next calls
// leave it out until it has taken its news.
func (n *attention) passNews(ctx context.Context, news []fermata.News) {
	for _, runNews := range news {
		n.mu.Lock()
		a := n.runs[runNews.RunID]
		n.mu.Unlock()
		switch {
		case a == nil:
			continue
		case runNews.Stop != "":
			a.applyStopReason(runNews.Stop)
			continue
		case !a.receivingNews.CompareAndSwap(false, true):
			continue
		}
		go func() {
			if err := a.receiveNews(ctx, runNews); err != nil && ctx.Err() == nil {
				n.w.log.Warn("fetch what people wrote", "run", runNews.RunID, "error", err)
				wait(ctx, newsRetryDelay, nil)
			}
			a.receivingNews.Store(false)
			n.signalChange()
		}()
	}
}

// newsRetryDelay is how long a run waits after it failed to fetch its news.
const newsRetryDelay = time.Second

// fetchTimeout is the time limit of the heartbeat that fetches messages.
const fetchTimeout = 10 * time.Second

// receiveNews takes in a new deadline and fetches the messages of people.
func (a *activeRun) receiveNews(ctx context.Context, news fermata.News) error {
	if news.Deadline != nil {
		if a.setDeadline(*news.Deadline) {
			a.logf("The deadline of the question was moved to %s.", news.Deadline.UTC().Format(time.RFC3339))
		}
	}
	if news.Unread == 0 || a.agentGone.Load() || a.stopped.Load() {
		return nil
	}
	err := a.sendHeartbeat(ctx, fetchTimeout)
	if isStale(err) {
		a.stopOvertaken(ctx)
		return nil
	}
	if err != nil {
		// The server may have handed the messages over although the reply was lost. It does not announce them again.
		a.requestBeat()
	}
	return err
}

// knownDeadline returns the deadline of the pending question, or nil if it is not known.
func (a *activeRun) knownDeadline() *time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.deadline
}

// setDeadline stores the deadline, and reports whether an earlier one was known.
func (a *activeRun) setDeadline(at time.Time) (moved bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	moved = a.deadline != nil
	a.deadline = &at
	return moved
}

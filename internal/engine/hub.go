package engine

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
)

// A wake-up is a hint that may be lost between replicas, so whoever waits also
// looks without having been woken. An executor of workflows waits in every
// server, needed or not, and looks less often.
const (
	secondLook   = time.Second
	executorLook = 5 * time.Second
)

// hub knows who in this process waits for what. It holds no state of its own:
// whoever is woken reads the database.
type hub struct {
	mu      sync.Mutex
	waiters map[string][]chan struct{}
	// claims are the waiting workers, in the order they came.
	claims map[claimQueue][]*claimWaiter
}

// claimQueue is where workers of a workspace wait: those that drive agents, and
// the executors of workflows. A task of one kind wakes nobody of the other.
type claimQueue struct {
	workspace string
	workflows bool
}

func (in claimQueue) secondLook() time.Duration {
	if in.workflows {
		return executorLook
	}
	return secondLook
}

type claimWaiter struct {
	// hops counts how often the wake-up may still be passed on.
	woken chan int
}

func newHub() *hub {
	return &hub{waiters: map[string][]chan struct{}{}, claims: map[claimQueue][]*claimWaiter{}}
}

// dispatch wakes who waits for what an event says.
func (h *hub) dispatch(e *fermata.Event) {
	switch e.Type {
	case fermata.EventQuestionAnswered, fermata.EventQuestionTimedOut, fermata.EventQuestionCancelled:
		h.wake("question:" + e.QuestionID)
	case fermata.EventRunFinished, fermata.EventRunLost, fermata.EventRunReleased:
		h.wake("log:" + e.RunID)
	default:
		// Nobody waits for the rest.
	}
	// Whatever moves a task says where to; what only looks like it is no harm.
	if bytes.Contains(e.Data, []byte(`"to":"open"`)) || bytes.Contains(e.Data, []byte(`"to":"input_received"`)) {
		h.wakeWorker(claimQueue{e.WorkspaceID, bytes.Contains(e.Data, tellsWorkflow)}, -1)
	}
}

// tellsWorkflow is how the data of a move names the runner of workflows.
var tellsWorkflow = []byte(`"runner":"` + fermata.RunnerWorkflow + `"`)

// wake wakes everybody who waits for the topic.
func (h *hub) wake(topic string) {
	h.mu.Lock()
	woken := h.waiters[topic]
	delete(h.waiters, topic)
	h.mu.Unlock()
	for _, ch := range woken {
		close(ch)
	}
}

// wakeWorker wakes the worker that has waited longest. With hops below 0 the
// wake-up may be passed on until everybody who waits now has seen it.
func (h *hub) wakeWorker(in claimQueue, hops int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	queue := h.claims[in]
	if len(queue) == 0 || hops == 0 {
		return
	}
	if hops < 0 {
		hops = len(queue)
	}
	h.claims[in] = queue[1:]
	queue[0].woken <- hops - 1
}

// until calls look when the topic is woken, and every second, until look is
// satisfied, the wait is over or ctx ends. It looks at least once.
func (h *hub) until(ctx context.Context, topic string, wait time.Duration, look func() (bool, error)) error {
	limit := time.NewTimer(wait)
	defer limit.Stop()
	for {
		// Registered before the look: a wake-up in between is not lost.
		woken := h.register(topic)
		done, err := look()
		if done || err != nil || wait <= 0 {
			h.unregister(topic, woken)
			return err
		}
		over := false
		again := time.NewTimer(secondLook)
		select {
		case <-woken:
		case <-again.C:
		case <-limit.C:
			over = true
		case <-ctx.Done():
			over, err = true, ctx.Err()
		}
		again.Stop()
		h.unregister(topic, woken)
		if over {
			return err
		}
	}
}

func (h *hub) register(topic string) chan struct{} {
	ch := make(chan struct{})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiters[topic] = append(h.waiters[topic], ch)
	return ch
}

func (h *hub) unregister(topic string, ch chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	rest := h.waiters[topic]
	for i := range rest {
		if rest[i] == ch {
			rest[i] = rest[len(rest)-1]
			rest = rest[:len(rest)-1]
			break
		}
	}
	if len(rest) == 0 {
		delete(h.waiters, topic)
	} else {
		h.waiters[topic] = rest
	}
}

// untilTask is until for workers: each new task wakes one of them, not all. A
// worker that was woken for nothing, because the task is for another kind of
// worker, passes the wake-up on.
func (h *hub) untilTask(ctx context.Context, in claimQueue, wait time.Duration, look func(first bool) (bool, error)) error {
	limit := time.NewTimer(wait)
	defer limit.Stop()
	for first, hops := true, 0; ; first = false {
		w := &claimWaiter{woken: make(chan int, 1)}
		h.queue(in, w)
		done, err := look(first)
		if !done && err == nil && hops > 0 {
			h.wakeWorker(in, hops)
		}
		hops = 0
		if done || err != nil || wait <= 0 {
			h.leave(in, w)
			return err
		}
		over := false
		again := time.NewTimer(in.secondLook())
		select {
		case hops = <-w.woken:
		case <-again.C:
		case <-limit.C:
			over = true
		case <-ctx.Done():
			over, err = true, ctx.Err()
		}
		again.Stop()
		if over {
			h.leave(in, w)
			return err
		}
		h.unqueue(in, w)
	}
}

func (h *hub) queue(in claimQueue, w *claimWaiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.claims[in] = append(h.claims[in], w)
}

func (h *hub) unqueue(in claimQueue, w *claimWaiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	queue := h.claims[in]
	for i := range queue {
		if queue[i] == w {
			h.claims[in] = append(queue[:i:i], queue[i+1:]...)
			return
		}
	}
}

// leave takes a worker out of the queue. If it was woken meanwhile, the
// wake-up goes to the next one.
func (h *hub) leave(in claimQueue, w *claimWaiter) {
	h.unqueue(in, w)
	select {
	case <-w.woken:
		h.wakeWorker(in, -1)
	default:
	}
}

package engine

import (
	"bytes"
	"context"
	"slices"
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
	// lookTogether is how many may wait before each of them looks less often.
	lookTogether = 16
)

// hub knows who in this process waits for what. It holds no state of its own:
// whoever is woken reads the database.
type hub struct {
	mu      sync.Mutex
	waiters map[string][]*waiter
	// waiting is how many there are of them.
	waiting int
	// claims are the waiting workers, in the order they came.
	claims map[claimQueue][]*claimWaiter
	// look is how often it is looked without a wake-up, and executorLook by executors of workflows.
	look, executorLook time.Duration
}

// claimQueue is where workers of a workspace wait: those that drive agents, and
// the executors of workflows. A task of one kind wakes nobody of the other.
type claimQueue struct {
	workspace string
	workflows bool
}

// claimLook is how long one of n waiting workers waits until it looks again.
func (h *hub) claimLook(in claimQueue, n int) time.Duration {
	if in.workflows {
		return nextLook(h.executorLook, n)
	}
	return nextLook(h.look, n)
}

// nextLook is how long each of n waits until it looks again. The more there are, the
// less often each looks, so that looking costs little.
func nextLook(every time.Duration, n int) time.Duration {
	return every * time.Duration(max(1, n/lookTogether))
}

// waiter waits for some topics at once.
type waiter struct {
	topics []string
	// woken holds a value when one of the topics was woken.
	woken chan struct{}
	// changed are the topics that were woken; the hub's lock guards it.
	changed []string
}

type claimWaiter struct {
	// hops counts how often the wake-up may still be passed on.
	woken chan int
}

func newHub() *hub {
	return &hub{waiters: map[string][]*waiter{}, claims: map[claimQueue][]*claimWaiter{}, look: secondLook, executorLook: executorLook}
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
	if concernsRun(e) {
		h.wake(taskTopic(e.TaskID))
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
	defer h.mu.Unlock()
	for _, w := range h.waiters[topic] {
		if !slices.Contains(w.changed, topic) {
			w.changed = append(w.changed, topic)
		}
		select {
		case w.woken <- struct{}{}:
		default:
		}
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

// waitUntil calls look when the topic is woken, and now and then, until look is
// satisfied, the wait is over or ctx ends. It looks at least once.
func (h *hub) waitUntil(ctx context.Context, topic string, wait time.Duration, look func() (bool, error)) error {
	limit := time.NewTimer(wait)
	defer limit.Stop()
	// Registered before the look: a wake-up in between is not lost.
	w, n := h.register(topic)
	defer h.unregister(w)
	again := time.NewTicker(nextLook(h.look, n))
	defer again.Stop()
	for {
		if done, err := look(); done || err != nil || wait <= 0 {
			return err
		}
		select {
		case <-w.woken:
		case <-again.C:
		case <-limit.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
		h.takeTopics(w)
	}
}

// register adds somebody who waits for the topics, and returns how many wait now.
func (h *hub) register(topics ...string) (w *waiter, waiting int) {
	w = &waiter{topics: topics, woken: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting++
	for _, topic := range topics {
		h.waiters[topic] = append(h.waiters[topic], w)
	}
	return w, h.waiting
}

// takeTopics returns the topics that were woken since the last call.
func (h *hub) takeTopics(w *waiter) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed := w.changed
	w.changed = nil
	return changed
}

func (h *hub) unregister(w *waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting--
	for _, topic := range w.topics {
		rest := h.waiters[topic]
		if i := slices.Index(rest, w); i >= 0 {
			rest[i] = rest[len(rest)-1]
			rest[len(rest)-1] = nil
			rest = rest[:len(rest)-1]
		}
		if len(rest) == 0 {
			delete(h.waiters, topic)
		} else {
			h.waiters[topic] = rest
		}
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
		n := h.queue(in, w)
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
		again := time.NewTimer(h.claimLook(in, n))
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

// queue adds a worker that waits, and returns how many there are now.
func (h *hub) queue(in claimQueue, w *claimWaiter) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.claims[in] = append(h.claims[in], w)
	return len(h.claims[in])
}

func (h *hub) unqueue(in claimQueue, w *claimWaiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	queue := h.claims[in]
	if i := slices.Index(queue, w); i >= 0 {
		h.claims[in] = slices.Delete(queue, i, i+1)
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

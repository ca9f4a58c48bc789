package engine

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
)

// A wake-up is a hint that may be lost between replicas, so a waiting call also
// looks from time to time. An executor of workflows waits in every server,
// needed or not, so it looks less often.
const (
	secondLook   = time.Second
	executorLook = 5 * time.Second
	// lookTogether is how many may wait before each of them looks less often.
	lookTogether = 16
)

// hub knows which calls in this process wait for which topic. It holds no other
// state: a call that is woken reads the database.
type hub struct {
	mu      sync.Mutex
	waiters map[string][]*waiter
	// waiting is the number of waiters.
	waiting int
	// claims are the waiting workers, in the order they came.
	claims map[claimQueue][]*claimWaiter
	// look is the time between two looks without a wake-up. executorLook is the same for executors of workflows.
	look, executorLook time.Duration
}

// claimQueue names a queue of waiting workers of a workspace: one for workers
// that drive agents, and one for executors of workflows. A task of one kind
// does not wake the other.
type claimQueue struct {
	workspace string
	workflows bool
}

// claimLook returns how long one of n waiting workers waits until it looks again.
func (h *hub) claimLook(in claimQueue, n int) time.Duration {
	if in.workflows {
		return nextLook(h.executorLook, n)
	}
	return nextLook(h.look, n)
}

// nextLook returns how long each of n waiters waits until it looks again. The more waiters there are, the less often
// each looks, so that the total cost stays low.
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
	// woken receives how often the wake-up may still be passed on.
	woken chan int
}

func newHub() *hub {
	return &hub{waiters: map[string][]*waiter{}, claims: map[claimQueue][]*claimWaiter{}, look: secondLook, executorLook: executorLook}
}

// dispatch wakes the calls that wait for an event like this.
func (h *hub) dispatch(e *fermata.Event) {
	switch e.Type {
	case fermata.EventQuestionAnswered, fermata.EventQuestionTimedOut, fermata.EventQuestionCancelled:
		h.wake("question:" + e.QuestionID)
	case fermata.EventRunFinished, fermata.EventRunLost, fermata.EventRunReleased:
		h.wake("log:" + e.RunID)
	default:
		// No call waits for other events.
	}
	if concernsRun(e) {
		h.wake(taskTopic(e.TaskID))
	}
	// Every event that moves a task contains its new state. A false match causes only a useless look.
	if bytes.Contains(e.Data, []byte(`"to":"open"`)) || bytes.Contains(e.Data, []byte(`"to":"input_received"`)) {
		h.wakeWorker(claimQueue{e.WorkspaceID, bytes.Contains(e.Data, tellsWorkflow)}, -1)
	}
}

// tellsWorkflow is the text in the data of a move that names the runner of workflows.
var tellsWorkflow = []byte(`"runner":"` + fermata.RunnerWorkflow + `"`)

// wake wakes all calls that wait for the topic.
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

// wakeWorker wakes the worker that has waited longest. Hops is how many workers
// may get the wake-up, if each passes it on. Below 0, it is the number of
// workers that wait.
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

// waitUntil calls look when the topic is woken, and from time to time. It
// returns when look reports true or fails, when the wait is over, or when ctx
// ends. It looks at least once.
func (h *hub) waitUntil(ctx context.Context, topic string, wait time.Duration, look func() (bool, error)) error {
	limit := time.NewTimer(wait)
	defer limit.Stop()
	// The waiter is registered before the look, so that no wake-up in between is lost.
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

// register adds a waiter for the topics, and returns how many waiters there are.
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

// takeTopics returns the topics that were woken since its last call.
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

// untilTask is waitUntil for workers: each new task wakes one of them, not all.
// A woken worker that cannot take the task passes the wake-up on.
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

// queue adds a waiting worker, and returns how many are waiting.
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

// leave removes a worker from the queue. If the worker was woken at the same
// time, the next one gets the wake-up.
func (h *hub) leave(in claimQueue, w *claimWaiter) {
	h.unqueue(in, w)
	select {
	case <-w.woken:
		h.wakeWorker(in, -1)
	default:
	}
}

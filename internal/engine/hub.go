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
// checks at intervals. An executor of workflows waits in every server, whether
// or not there are workflows, so it checks less often.
const (
	rescanInterval         = time.Second
	executorRescanInterval = 5 * time.Second
	// waitersPerInterval is the number of waiters for one check per interval. With n times as many, each waiter checks
	// n times less often.
	waitersPerInterval = 16
)

// hub knows which calls in this process wait for which topic. It holds no other
// state: a call that is woken reads the database.
type hub struct {
	mu      sync.Mutex
	waiters map[string][]*waiter
	// waiterCount is the number of waiters.
	waiterCount int
	// claimWaiters are the waiting workers, in the order they came.
	claimWaiters map[claimQueueKey][]*claimWaiter
	// rescanInterval is the time between two checks without a wake-up, before [scaleInterval]. executorRescanInterval
	// is the same for executors of workflows.
	rescanInterval, executorRescanInterval time.Duration
}

// claimQueueKey names a queue of waiting workers of a workspace: one for workers
// that drive agents, and one for executors of workflows. A task of one kind
// does not wake the other.
type claimQueueKey struct {
	workspace string
	workflows bool
}

// claimRescanInterval returns how long one of n waiting workers waits until it checks again.
func (h *hub) claimRescanInterval(key claimQueueKey, n int) time.Duration {
	if key.workflows {
		return scaleInterval(h.executorRescanInterval, n)
	}
	return scaleInterval(h.rescanInterval, n)
}

// scaleInterval returns how long each of n waiters waits until it checks again. The more waiters there are, the less
// often each of them checks, so that the total cost stays low.
func scaleInterval(interval time.Duration, n int) time.Duration {
	return interval * time.Duration(max(1, n/waitersPerInterval))
}

// waiter waits for some topics at once.
type waiter struct {
	topics []string
	// woken holds a value when one of the topics was woken.
	woken chan struct{}
	// changedTopics are the topics that were woken; the hub's lock guards it.
	changedTopics []string
}

type claimWaiter struct {
	// woken receives the number of workers to which the wake-up may still be passed on.
	woken chan int
}

func newHub() *hub {
	return &hub{waiters: map[string][]*waiter{}, claimWaiters: map[claimQueueKey][]*claimWaiter{}, rescanInterval: rescanInterval, executorRescanInterval: executorRescanInterval}
}

// dispatch wakes the calls that wait for this event.
func (h *hub) dispatch(e *fermata.Event) {
	switch e.Type {
	case fermata.EventQuestionAnswered, fermata.EventQuestionTimedOut, fermata.EventQuestionCancelled:
		h.wake("question:" + e.QuestionID)
	case fermata.EventRunFinished, fermata.EventRunLost, fermata.EventRunReleased:
		h.wake("log:" + e.RunID)
	default:
		// Other events end no wait for a question or a log.
	}
	if concernsRun(e) {
		h.wake(taskTopic(e.TaskID))
	}
	// Every event that moves a task contains its new state. A false match causes only a useless check.
	if bytes.Contains(e.Data, []byte(`"to":"open"`)) || bytes.Contains(e.Data, []byte(`"to":"input_received"`)) {
		h.wakeWorker(claimQueueKey{e.WorkspaceID, bytes.Contains(e.Data, workflowRunnerText)}, -1)
	}
}

// workflowRunnerText is the text in the data of a move that names the runner of workflows.
var workflowRunnerText = []byte(`"runner":"` + fermata.RunnerWorkflow + `"`)

// wake wakes all calls that wait for the topic.
func (h *hub) wake(topic string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.waiters[topic] {
		if !slices.Contains(w.changedTopics, topic) {
			w.changedTopics = append(w.changedTopics, topic)
		}
		select {
		case w.woken <- struct{}{}:
		default:
		}
	}
}

// wakeWorker wakes the worker that has waited longest. hops is the largest
// number of workers that the wake-up may reach if each passes it on. If hops is
// negative, it may reach all that wait.
func (h *hub) wakeWorker(key claimQueueKey, hops int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	queue := h.claimWaiters[key]
	if len(queue) == 0 || hops == 0 {
		return
	}
	if hops < 0 {
		hops = len(queue)
	}
	h.claimWaiters[key] = queue[1:]
	queue[0].woken <- hops - 1
}

// waitForTopic calls check when the topic is woken, and at intervals. It
// returns when check reports true or fails, when the time of the wait has
// passed, or when ctx ends. It calls check at least once.
func (h *hub) waitForTopic(ctx context.Context, topic string, wait time.Duration, check func() (bool, error)) error {
	limit := time.NewTimer(wait)
	defer limit.Stop()
	// The waiter is registered before the first check, so that no wake-up in between is lost.
	w, n := h.register(topic)
	defer h.unregister(w)
	rescan := time.NewTicker(scaleInterval(h.rescanInterval, n))
	defer rescan.Stop()
	for {
		if done, err := check(); done || err != nil || wait <= 0 {
			return err
		}
		select {
		case <-w.woken:
		case <-rescan.C:
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
	h.waiterCount++
	for _, topic := range topics {
		h.waiters[topic] = append(h.waiters[topic], w)
	}
	return w, h.waiterCount
}

// addTopics makes a waiter wait for more topics about tasks.
func (h *hub) addTopics(w *waiter, taskIDs []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range taskIDs {
		topic := taskTopic(id)
		w.topics = append(w.topics, topic)
		h.waiters[topic] = append(h.waiters[topic], w)
	}
}

// takeTopics returns the topics that were woken since its last call.
func (h *hub) takeTopics(w *waiter) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed := w.changedTopics
	w.changedTopics = nil
	return changed
}

func (h *hub) unregister(w *waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiterCount--
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

// waitForTask is waitForTopic for workers: each new task wakes one of them, not all.
// A woken worker that cannot take the task passes the wake-up on.
func (h *hub) waitForTask(ctx context.Context, key claimQueueKey, wait time.Duration, check func(first bool) (bool, error)) error {
	limit := time.NewTimer(wait)
	defer limit.Stop()
	for first, hops := true, 0; ; first = false {
		w := &claimWaiter{woken: make(chan int, 1)}
		n := h.enqueue(key, w)
		done, err := check(first)
		if !done && err == nil && hops > 0 {
			h.wakeWorker(key, hops)
		}
		hops = 0
		if done || err != nil || wait <= 0 {
			h.leaveQueue(key, w)
			return err
		}
		isOver := false
		rescan := time.NewTimer(h.claimRescanInterval(key, n))
		select {
		case hops = <-w.woken:
		case <-rescan.C:
		case <-limit.C:
			isOver = true
		case <-ctx.Done():
			isOver, err = true, ctx.Err()
		}
		rescan.Stop()
		if isOver {
			h.leaveQueue(key, w)
			return err
		}
		h.dequeue(key, w)
	}
}

// enqueue adds a waiting worker, and returns how many are waiting.
func (h *hub) enqueue(key claimQueueKey, w *claimWaiter) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.claimWaiters[key] = append(h.claimWaiters[key], w)
	return len(h.claimWaiters[key])
}

func (h *hub) dequeue(key claimQueueKey, w *claimWaiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	queue := h.claimWaiters[key]
	if i := slices.Index(queue, w); i >= 0 {
		h.claimWaiters[key] = slices.Delete(queue, i, i+1)
	}
}

// leaveQueue removes a worker from the queue. If the worker was woken at the same
// time, the next one gets the wake-up.
func (h *hub) leaveQueue(key claimQueueKey, w *claimWaiter) {
	h.dequeue(key, w)
	select {
	case <-w.woken:
		h.wakeWorker(key, -1)
	default:
	}
}

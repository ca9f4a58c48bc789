package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
)

const (
	// rescanInterval is the time between two checks of a waiting call. A wake-up is a hint that may be lost between
	// replicas.
	rescanInterval = time.Second
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
	// rescanInterval is the time between two checks without a wake-up, before [scaleInterval].
	rescanInterval time.Duration
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

func newHub() *hub { return &hub{waiters: map[string][]*waiter{}, rescanInterval: rescanInterval} }

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
}

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

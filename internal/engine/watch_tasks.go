package engine

import "strings"

// TaskWatch tells a caller in this process which of some tasks have changed. A change may go unnoticed, so the caller
// also reads the tasks at intervals.
type TaskWatch struct {
	hub     *hub
	waiter  *waiter
	watched map[string]bool
}

// WatchTasks returns a watch of no tasks yet. The caller closes it. It is for one goroutine.
func (e *Engine) WatchTasks() *TaskWatch {
	w, _ := e.hub.register()
	return &TaskWatch{hub: e.hub, waiter: w, watched: map[string]bool{}}
}

// Add watches more tasks, and returns the ids of those that were not watched yet. The caller must read these afterwards:
// they may have changed before.
func (t *TaskWatch) Add(ids []string) (added []string) {
	for _, id := range ids {
		if !t.watched[id] {
			t.watched[id] = true
			added = append(added, id)
		}
	}
	t.hub.addTopics(t.waiter, added)
	return added
}

// Changed receives a value when a task has changed.
func (t *TaskWatch) Changed() <-chan struct{} { return t.waiter.woken }

// Take returns the ids of the tasks that have changed since the last call.
func (t *TaskWatch) Take() []string {
	topics := t.hub.takeTopics(t.waiter)
	for i, topic := range topics {
		topics[i] = strings.TrimPrefix(topic, taskTopic(""))
	}
	return topics
}

// Close ends the watch.
func (t *TaskWatch) Close() { t.hub.unregister(t.waiter) }

package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// taskCounts are the numbers of a workspace's tasks by project and state. The database counts them once; from then on they
// follow the moves of the events. So a board that asks for them after every event costs the same among many tasks.
type taskCounts struct {
	// seq is the number of the last event that the counts include.
	seq      int64
	byStates map[projectState]int64
}

type projectState struct {
	project string
	state   fermata.TaskState
}

// apply adds an event. Events that the counts include already change nothing.
func (c *taskCounts) apply(e *fermata.Event) {
	if e.Seq <= c.seq {
		return
	}
	c.seq = e.Seq
	if e.Type == fermata.EventRetentionApplied {
		for _, removed := range removalOf(e).Tasks {
			c.byStates[projectState{removed.Project, removed.State}] -= removed.Count
		}
	}
	if e.Move == nil {
		return
	}
	if e.Move.From != "" {
		c.byStates[projectState{e.Move.Kind.Project, e.Move.From}]--
	}
	c.byStates[projectState{e.Move.Kind.Project, e.Move.To}]++
}

// sum returns the numbers of the tasks in the projects that has keeps.
func (c *taskCounts) sum(has func(project string) bool) fermata.TaskCounts {
	total := fermata.NewTaskCounts()
	for in, n := range c.byStates {
		if has(in.project) {
			total.Add(in.state, n)
		}
	}
	return total
}

// follow brings the tail up to the workspace's present end. On SQLite it always is there: other processes do not write.
func (t *Tail) follow(ctx context.Context, workspace string) error {
	if t.e.db.Dialect() == "sqlite" {
		return nil
	}
	head, err := t.Head(ctx, workspace)
	if err != nil || !t.isBehind(workspace, head) {
		return err
	}
	return t.catchUp(ctx, workspace)
}

// countTasks counts the tasks of a workspace by state, in the projects that has keeps. The commits of other replicas count
// up to where the tail is.
func (t *Tail) countTasks(ctx context.Context, workspace string, has func(project string) bool) (fermata.TaskCounts, error) {
	if counts, ok := t.knownCounts(workspace, has); ok {
		return counts, nil
	}
	t.counting.Lock()
	defer t.counting.Unlock()
	if counts, ok := t.knownCounts(workspace, has); ok {
		return counts, nil
	}
	return t.loadCounts(ctx, workspace, has)
}

func (t *Tail) isBehind(workspace string, head int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.workspace(workspace).last < head
}

// knownCounts returns the numbers of tasks if they were counted before.
func (t *Tail) knownCounts(workspace string, has func(project string) bool) (fermata.TaskCounts, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	counts := t.workspace(workspace).counts
	if counts == nil {
		return fermata.TaskCounts{}, false
	}
	return counts.sum(has), true
}

// loadCounts lets the database count the tasks of a workspace, and returns the sum for the projects that has keeps. It keeps
// the counts if they and the events in memory have no gap between them.
func (t *Tail) loadCounts(ctx context.Context, workspace string, has func(project string) bool) (fermata.TaskCounts, error) {
	// From here on, events come with their moves, also those of other replicas.
	t.mu.Lock()
	t.workspace(workspace).isCounted = true
	t.mu.Unlock()
	found, seq, err := t.e.db.Reader(ctx, workspace).CountTasksByProject()
	if err != nil {
		return fermata.TaskCounts{}, err
	}
	counted := newTaskCounts(found, seq)
	sum := counted.sum(has)
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.workspace(workspace)
	if first := w.last - int64(len(w.events)) + 1; seq <= w.last && seq >= max(first-1, w.withoutMoves) {
		for _, e := range w.events {
			counted.apply(e.Event)
		}
		w.counts = counted
	}
	return sum, nil
}

func newTaskCounts(found []store.ProjectCount, seq int64) *taskCounts {
	c := &taskCounts{seq: seq, byStates: make(map[projectState]int64, len(found))}
	for _, n := range found {
		c.byStates[projectState{n.Project, n.State}] = n.N
	}
	return c
}

// forgetCounts makes the next calls count all tasks again. So a database that was changed by hand is counted as it is,
// after some time.
func (t *Tail) forgetCounts() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.tails {
		w.counts = nil
	}
}

package workflow

import (
	"context"
	"slices"
	"time"
)

// parkedRescanInterval is the longest time a change at a waiting position goes unnoticed while a call is under way.
const parkedRescanInterval = time.Second

// awaitChange waits until a call returns, or until a position that waits can continue. The run holds its lease
// meanwhile, so nothing else wakes it.
func (x *execution) awaitChange(ctx context.Context) error {
	if len(x.dirty) > 0 {
		// People see what was done so far while the call is under way.
		if err := x.commit(ctx, nil); err != nil {
			return err
		}
	}
	if x.watch == nil {
		x.watch = x.s.e.WatchTasks()
	}
	if err := x.unpark(ctx, x.watch.Add(x.awaitedTaskIDs())); err != nil || x.canPick() {
		return err
	}
	rescan := time.NewTimer(parkedRescanInterval)
	defer rescan.Stop()
	select {
	case c := <-x.results:
		x.pendingResults = append(x.pendingResults, c)
		return nil
	case <-x.watch.Changed():
		return x.unpark(ctx, x.watch.Take())
	case <-rescan.C:
		return x.unpark(ctx, x.awaitedTaskIDs())
	case <-ctx.Done():
		return nil
	}
}

// endWatch ends the watch of tasks, if there is one.
func (x *execution) endWatch() {
	if x.watch != nil {
		x.watch.Close()
	}
}

// awaitedTaskIDs returns the ids of the tasks for which positions of the run wait.
func (x *execution) awaitedTaskIDs() []string {
	var ids []string
	for _, p := range x.positions() {
		if p.WaitsFor != "" {
			ids = append(ids, p.TaskIDs...)
		}
	}
	return ids
}

// canPick reports whether a position of the run does not wait.
func (x *execution) canPick() bool {
	return slices.ContainsFunc(x.positions(), func(p position) bool { return !x.isParked(p.Next) })
}

// isParked reports whether the position at a step waits.
func (x *execution) isParked(step string) bool {
	_, waits := x.parked[step]
	return waits
}

// unpark lets positions continue that waited for one of the tasks, if it has ended, or for a time, if it has come.
func (x *execution) unpark(ctx context.Context, taskIDs []string) error {
	if err := x.unparkDue(ctx); err != nil || len(taskIDs) == 0 {
		return err
	}
	tasks, err := x.s.db.Reader(ctx, x.claim.Task.WorkspaceID).TasksByID(taskIDs)
	if err != nil {
		return err
	}
	ended := map[string]bool{}
	for _, t := range tasks {
		ended[t.ID] = t.State.IsEnded()
	}
	for _, p := range x.positions() {
		// A position that calls a tool may still name the task for which it waited before.
		if p.WaitsFor != "" && slices.ContainsFunc(p.TaskIDs, func(id string) bool { return ended[id] }) {
			delete(x.parked, p.Next)
		}
	}
	return nil
}

// unparkDue lets positions continue whose time has come.
func (x *execution) unparkDue(ctx context.Context) error {
	hasTime := false
	for _, until := range x.parked {
		hasTime = hasTime || until != nil
	}
	if !hasTime {
		return nil
	}
	now, err := x.s.db.Now(ctx)
	if err != nil {
		return err
	}
	x.now = now
	for step, until := range x.parked {
		if until != nil && !now.Before(*until) {
			delete(x.parked, step)
		}
	}
	return nil
}

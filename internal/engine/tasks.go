package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// taskID returns the full id for an id, or the end of one, that a person typed.
func (e *Engine) taskID(ctx context.Context, c fermata.Caller, idOrSuffix string) (string, error) {
	return e.reader(ctx, c).FindID("task", "tasks", fermata.PrefixTask, idOrSuffix)
}

// Task returns a task with its pending question.
func (e *Engine) Task(ctx context.Context, c fermata.Caller, id string) (*fermata.Task, error) {
	if err := c.CheckPermission(fermata.ToReadTasks, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	r := e.reader(ctx, c)
	id, err := e.taskID(ctx, c, id)
	if err != nil {
		return nil, err
	}
	t, err := r.Task(id)
	if err != nil {
		return nil, err
	}
	return t, e.fillTasks(ctx, r, c, []*fermata.Task{t})
}

// fillTasks sets the derived fields: the pending question, what the task waits for,
// whether a person may resume or pause it, and why no running worker takes it.
func (e *Engine) fillTasks(ctx context.Context, r store.Reader, c fermata.Caller, tasks []*fermata.Task) error {
	var ids []string
	for _, t := range tasks {
		t.CanResume, t.CanPause = t.IsResumable(), !t.IsPaused() && t.CheckPause() == nil
		if t.IsPaused() {
			t.TakeOverCommand = t.Session.OpenCommand()
		}
		if t.PendingQuestionID != "" {
			ids = append(ids, t.PendingQuestionID)
		}
	}
	questions, err := r.QuestionsByID(ids)
	if err != nil {
		return err
	}
	byID := make(map[string]*fermata.Question, len(questions))
	for _, q := range questions {
		byID[q.ID] = q
	}
	for _, t := range tasks {
		t.PendingQuestion = byID[t.PendingQuestionID].ViewFor(c)
		t.Waiting = t.DescribeWaiting(t.PendingQuestion)
	}
	return e.fillNoWorker(ctx, c, tasks)
}

// Tree returns a task and everything below it, parents before children.
func (e *Engine) Tree(ctx context.Context, c fermata.Caller, id string) ([]*fermata.Task, error) {
	root, err := e.Task(ctx, c, id)
	if err != nil {
		return nil, err
	}
	r := e.listReader(ctx, c)
	all := []*fermata.Task{root}
	for level := all; len(level) > 0; {
		if level, err = childrenOf(r, level); err != nil {
			return nil, err
		}
		all = append(all, level...)
	}
	return all, e.fillTasks(ctx, r, c, all)
}

// childrenOf returns the children of the tasks, in the order of their parents.
func childrenOf(r store.Reader, parents []*fermata.Task) ([]*fermata.Task, error) {
	ids := make([]string, 0, len(parents))
	for _, t := range parents {
		ids = append(ids, t.ID)
	}
	found, err := r.Children(ids...)
	byParent := map[string][]*fermata.Task{}
	for _, t := range found {
		byParent[t.ParentID] = append(byParent[t.ParentID], t)
	}
	ordered := make([]*fermata.Task, 0, len(found))
	for _, id := range ids {
		ordered = append(ordered, byParent[id]...)
	}
	return ordered, err
}

// changeTask loads a task, settles its pending question if it is due, and then calls fn to change the task.
func (e *Engine) changeTask(
	ctx context.Context, c fermata.Caller, v fermata.Verb, id string, fn func(tx *store.Tx, t *fermata.Task) error,
) (*fermata.Task, error) {
	if err := c.CheckPermission(v, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	id, err := e.taskID(ctx, c, id)
	if err != nil {
		return nil, err
	}
	t, err := write(ctx, e, c, v, func(tx *store.Tx) (*fermata.Task, error) {
		t, err := tx.Task(id)
		if err == nil {
			err = checkTaskPermission(tx, c, v, t)
		}
		if err == nil {
			err = e.settlePendingIfDue(tx, t)
		}
		if err != nil {
			return nil, err
		}
		appendedBefore := tx.AppendedCount()
		err = fn(tx, t)
		return t, wrapTooLate(tx, appendedBefore, err)
	}, store.ReadAhead{Task: id})
	if err != nil {
		return nil, err
	}
	return t, e.fillTasks(ctx, e.reader(ctx, c), c, []*fermata.Task{t})
}

// UpdateTask changes texts, priority, labels or dependencies.
func (e *Engine) UpdateTask(ctx context.Context, c fermata.Caller, id string, p fermata.TaskPatch) (*fermata.Task, error) {
	if p.BlockedBy != nil {
		if err := e.expandIDs(ctx, c, nil, *p.BlockedBy); err != nil {
			return nil, err
		}
	}
	return e.changeTask(ctx, c, fermata.ToChangeTask, id, func(tx *store.Tx, t *fermata.Task) error {
		if p.Title != nil || p.Body != nil {
			if err := checkNotStep(tx, t, "its text is what the workflow says"); err != nil {
				return err
			}
		}
		if err := p.Apply(t, tx.Now()); err != nil {
			return err
		}
		if p.BlockedBy != nil {
			if t.Runner == fermata.RunnerWorkflow {
				return fermata.Errorf(fermata.CodeIllegalTransition, "only the workflow itself decides what its run waits for").
					WithHint("cancel the run for which it waits, or let it end")
			}
			if err := e.checkDependencies(tx, t); err != nil {
				return err
			}
		}
		tx.SaveTaskEdit(t)
		tx.Append(&fermata.Event{Type: fermata.EventTaskUpdated, TaskID: t.ID, Actor: c.Actor(), Data: encodeData(p)})
		return e.moveAfterPatch(tx, t, p, c.Actor())
	})
}

// moveAfterPatch saves a changed task. If its dependencies were changed, it first moves the task.
func (e *Engine) moveAfterPatch(tx *store.Tx, t *fermata.Task, p fermata.TaskPatch, by fermata.Actor) error {
	if p.BlockedBy == nil || t.State != fermata.TaskBlocked && !t.State.IsClaimable() {
		tx.SaveTask(t)
		return nil
	}
	waits, err := e.isBlocked(tx, t, nil)
	if err != nil {
		return err
	}
	to := t.State
	switch {
	case waits:
		to = fermata.TaskBlocked
	case t.State == fermata.TaskBlocked:
		to = t.ReadyState()
	}
	if err := moveTask(tx, t, to, by); err != nil {
		return err
	}
	tx.SaveTask(t)
	return nil
}

// Projects lists the names of the workspace's projects.
func (e *Engine) Projects(ctx context.Context, c fermata.Caller) ([]string, error) {
	if err := c.CheckPermission(fermata.ToReadTasks, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	return e.reader(ctx, c).Projects()
}

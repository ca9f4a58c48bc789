package engine

import (
	"cmp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// taskGetter is a reader, or a transaction that may have read ahead.
type taskGetter interface {
	Task(id string) (*fermata.Task, error)
}

// mayTask says why a caller may not do something with a task, nil where he may.
// An agent has the subtasks of its own tasks, too.
func mayTask(r taskGetter, c fermata.Caller, v fermata.Verb, t *fermata.Task) error {
	if c.Kind != fermata.ActorAgent || c.Owns(t) {
		return c.May(v, fermata.InTask(t))
	}
	var ancestors []*fermata.Task
	for id := t.ParentID; id != "" && len(ancestors) < fermata.MaxDepth; {
		parent, err := r.Task(id)
		if err != nil {
			return err
		}
		ancestors, id = append(ancestors, parent), parent.ParentID
	}
	return c.May(v, fermata.InTask(t, ancestors...))
}

// mayParent refuses a subtask of another agent's task, which would wait for it.
func mayParent(tx *store.Tx, c fermata.Caller, id string) error {
	if id == "" {
		return nil
	}
	parent, err := tx.Task(id)
	if err != nil {
		return err
	}
	return mayTask(tx, c, fermata.ToCreateTask, parent)
}

// mayWorkIn refuses the working copy of a task that is in another project, or to which the caller may add no subtask: a run of
// the new task reads and changes the files there.
func mayWorkIn(tx *store.Tx, c fermata.Caller, n fermata.NewTask) error {
	id := n.WorkingCopy()
	if id == "" {
		return nil
	}
	owner, err := tx.Task(id)
	if err != nil {
		return err
	}
	if err := mayTask(tx, c, fermata.ToCreateTask, owner); err != nil {
		return err
	}
	if owner.Project != cmp.Or(n.Project, fermata.DefaultProject) {
		return fermata.Invalid(fermata.Problem{
			Field: "spec.working_copy", Message: "must be that of a task in the same project; " + id + " is in " + owner.Project,
		})
	}
	return nil
}

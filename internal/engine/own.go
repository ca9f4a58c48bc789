package engine

import "github.com/fermata-hq/fermata"

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

package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// CreateTask creates a task. It is blocked while its dependencies are open.
func (e *Engine) CreateTask(ctx context.Context, c fermata.Caller, n fermata.NewTask) (*fermata.Task, error) {
	if err := c.CheckPermission(fermata.ToCreateTask, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	n.Project = c.ProjectOr(n.Project)
	if err := c.CheckPermission(fermata.ToCreateTask, fermata.InProject(n.Project)); err != nil {
		return nil, err
	}
	if n.Runner == fermata.RunnerWorkflow {
		return nil, fermata.Invalid(fermata.Problem{Field: "runner", Message: "workflow is for runs of workflows"}).
			WithHint("start one: fermata workflow run <name>")
	}
	if err := fermata.CheckSessionKey("session_key", n.SessionKey); err != nil {
		return nil, err
	}
	if err := e.expandIDs(ctx, c, &n.ParentID, n.BlockedBy); err != nil {
		return nil, err
	}
	return write(ctx, e, c, fermata.ToCreateTask, func(tx *store.Tx) (*fermata.Task, error) {
		if n.SessionKey != "" && n.Runner == fermata.RunnerExternal {
			// A session has one task at a time. A new call joins it, as a question does.
			t, err := taskOfSession(tx, c, fermata.ToCreateTask, n.SessionKey)
			if err == nil || fermata.CodeOf(err) != fermata.CodeNotFound {
				return t, err
			}
			if err := checkNotStopped(tx, c, n.SessionKey); err != nil {
				return nil, err
			}
		}
		if err := checkParentPermission(tx, c, n.ParentID); err != nil {
			return nil, err
		}
		if err := checkFilePermission(tx, c, n); err != nil {
			return nil, err
		}
		return e.createTask(tx, n, c.Actor())
	})
}

// expandIDs replaces shortened ids, which are only the end of an id, by full ones.
func (e *Engine) expandIDs(ctx context.Context, c fermata.Caller, parent *string, blockedBy []string) error {
	var err error
	if parent != nil && *parent != "" {
		if *parent, err = e.taskID(ctx, c, *parent); err != nil {
			return err
		}
	}
	for i := range blockedBy {
		if blockedBy[i], err = e.taskID(ctx, c, blockedBy[i]); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) createTask(tx *store.Tx, n fermata.NewTask, by fermata.Actor) (*fermata.Task, error) {
	t, err := n.Create(fermata.NewID(fermata.PrefixTask, tx.Now()), by, tx.Now())
	if err != nil {
		return nil, err
	}
	if err := checkParent(tx, t); err != nil {
		return nil, err
	}
	if err := e.checkDependencies(tx, t); err != nil {
		return nil, err
	}
	if t.State == fermata.TaskOpen && len(t.BlockedBy) > 0 {
		waits, err := e.isBlocked(tx, t, nil)
		if err != nil {
			return nil, err
		}
		if waits {
			t.State = fermata.TaskBlocked
		}
	}
	if t.Project != fermata.DefaultProject {
		tx.EnsureProject(t.Project)
	}
	tx.InsertTask(t)
	tx.Append(&fermata.Event{
		Type: fermata.EventTaskCreated, TaskID: t.ID, Actor: by, Move: &fermata.TaskMove{To: t.State, Kind: t.Kind()},
		Data: encodeData(struct {
			Title   string            `json:"title"`
			To      fermata.TaskState `json:"to"`
			Runner  string            `json:"runner,omitempty"`
			Project string            `json:"project"`
			Origin  string            `json:"origin_hash"`
		}{t.Title, t.State, eventRunner(t), t.Project, t.OriginHash()}),
	})
	return t, nil
}

// checkParent refuses a parent that does not exist, has ended, or is too deep in the tree.
func checkParent(tx *store.Tx, t *fermata.Task) error {
	depth, id := 0, t.ParentID
	for id != "" {
		parent, err := tx.Task(id)
		if err != nil {
			return err
		}
		if depth == 0 && parent.State.IsEnded() {
			return fermata.Errorf(fermata.CodeIllegalTransition, "the parent %s is %s", parent.ID, parent.State)
		}
		if depth++; depth > fermata.MaxDepth {
			return fermata.Invalid(fermata.Problem{Field: "parent_id", Message: "the tree would be too deep"})
		}
		id = parent.ParentID
	}
	return nil
}

// checkDependencies refuses a dependency that does not exist. It refuses a
// cycle, and the error shows the path.
func (e *Engine) checkDependencies(tx *store.Tx, t *fermata.Task) error {
	slices.Sort(t.BlockedBy)
	t.BlockedBy = slices.Compact(t.BlockedBy)
	found, err := tx.TasksByID(t.BlockedBy)
	if err != nil {
		return err
	}
	if len(found) != len(t.BlockedBy) {
		for _, id := range t.BlockedBy {
			if !slices.ContainsFunc(found, func(f *fermata.Task) bool { return f.ID == id }) {
				return fermata.Errorf(fermata.CodeNotFound, "blocked_by: there is no task %q", id)
			}
		}
	}
	return checkNoCycle(tx, t.ID, []string{t.ID}, found, map[string]bool{})
}

// checkNoCycle follows the dependencies from the last task of the path. It returns an error if they lead to start.
func checkNoCycle(tx *store.Tx, start string, path []string, next []*fermata.Task, seen map[string]bool) error {
	for _, t := range next {
		longerPath := append(slices.Clone(path), t.ID)
		if t.ID == start {
			message := "is a cycle: " + strings.Join(longerPath, " → ")
			return fermata.Invalid(fermata.Problem{Field: "blocked_by", Message: message})
		}
		if seen[t.ID] || len(t.BlockedBy) == 0 {
			continue
		}
		seen[t.ID] = true
		further, err := tx.TasksByID(t.BlockedBy)
		if err != nil {
			return err
		}
		if err := checkNoCycle(tx, start, longerPath, further, seen); err != nil {
			return err
		}
	}
	return nil
}

// dependOn adds dependencies to a task whose run is blocked.
func (e *Engine) dependOn(tx *store.Tx, t *fermata.Task, ids []string) error {
	t.BlockedBy = append(t.BlockedBy, ids...)
	err := e.checkDependencies(tx, t)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		// The run exists, but a task that its result names does not.
		return fermata.Errorf(fermata.CodeInvalidRequest, "%s", err)
	}
	if err == nil {
		tx.SaveTaskEdit(t)
	}
	return err
}

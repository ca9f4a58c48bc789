package engine

import (
	"context"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// TaskFilter narrows a list of tasks.
type TaskFilter struct {
	State    []fermata.TaskState
	Project  string
	Label    string
	Agent    string
	ParentID string
	Q        string
	// NeedsPerson lists suspended tasks only.
	NeedsPerson bool
	// Sort is the order; empty is the newest first.
	Sort   fermata.TaskSort
	Limit  int
	Cursor string
}

// taskQuery returns the filter for the store. It refuses unknown states and
// sort orders.
func (e *Engine) taskQuery(ctx context.Context, c fermata.Caller, f TaskFilter) (store.TaskFilter, error) {
	q := store.TaskFilter{
		States: f.State, Project: f.Project, Label: f.Label, Agent: f.Agent, ParentID: f.ParentID, Text: f.Q,
		Sort: f.Sort, Limit: pageSize(f.Limit) + 1,
	}
	if f.NeedsPerson {
		q.States = []fermata.TaskState{fermata.TaskAwaitingInput, fermata.TaskAwaitingApproval}
	}
	var problems []fermata.Problem
	for _, s := range f.State {
		if !slices.Contains(fermata.TaskStates, s) {
			problems = append(problems, fermata.Problem{Field: "state", Message: "there is no state " + string(s)})
		}
	}
	if f.Sort != "" && !slices.Contains(fermata.TaskSorts, f.Sort) {
		problems = append(problems, fermata.Problem{Field: "sort", Message: "must be newest, oldest, priority or updated"})
	}
	if len(problems) > 0 {
		return q, fermata.Invalid(problems...)
	}
	if f.ParentID == "" {
		return q, nil
	}
	var err error
	q.ParentID, err = e.taskID(ctx, c, f.ParentID)
	return q, err
}

// Tasks lists tasks and returns the cursor of the next page.
func (e *Engine) Tasks(ctx context.Context, c fermata.Caller, f TaskFilter) ([]*fermata.Task, string, error) {
	if err := c.CheckPermission(fermata.ToReadTasks, fermata.UnloadedResource); err != nil {
		return nil, "", err
	}
	query, err := e.taskQuery(ctx, c, f)
	if err != nil {
		return nil, "", err
	}
	list := cursorOf("tasks", f.Cursor, f)
	if err := list.read(&query.After); err != nil {
		return nil, "", err
	}
	r := e.listReader(ctx, c)
	tasks, err := r.Tasks(query)
	if err != nil {
		return nil, "", err
	}
	tasks, more := trimPage(tasks, f.Limit)
	if err := e.fillTasks(ctx, r, c, tasks); err != nil || !more {
		return tasks, "", err
	}
	return tasks, list.write(store.TaskPositionOf(tasks[len(tasks)-1], f.Sort)), nil
}

// TaskCounts counts the tasks of a filter by state and by column of a board.
// The states of the filter are ignored, because the counts are for a choice
// between all states.
func (e *Engine) TaskCounts(ctx context.Context, c fermata.Caller, f TaskFilter) (fermata.TaskCounts, error) {
	if err := c.CheckPermission(fermata.ToReadTasks, fermata.UnloadedResource); err != nil {
		return fermata.TaskCounts{}, err
	}
	query, err := e.taskQuery(ctx, c, f)
	if err != nil {
		return fermata.TaskCounts{}, err
	}
	if !query.IsByProject() {
		return e.listReader(ctx, c).CountTasksByState(query)
	}
	if err := e.tail.follow(ctx, c.WorkspaceID); err != nil {
		return fermata.TaskCounts{}, err
	}
	visible := c.VisibleProjects()
	return e.tail.countTasks(ctx, c.WorkspaceID, func(project string) bool {
		return visible.Has(project) && (query.Project == "" || query.Project == project)
	})
}

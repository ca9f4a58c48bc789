package store

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
)

// TaskFilter narrows a list of tasks.
type TaskFilter struct {
	States   []fermata.TaskState
	Project  string
	Label    string
	Agent    string
	ParentID string
	// Text is searched in titles.
	Text string
	// Sort is the order; empty is [fermata.SortNewest].
	Sort  fermata.TaskSort
	Limit int
	// After is the position after which the list continues.
	After TaskPosition
	// index is the column, project or agent, through whose index the list is read.
	index string
}

// TaskPosition is a position in an order of tasks: the value of the sort column, and
// the id.
type TaskPosition struct {
	Key int64  `json:"k,omitempty"`
	ID  string `json:"i"`
}

// TaskPositionOf returns the position of a task in an order. The key is 0 if
// the order has no sort column.
func TaskPositionOf(t *fermata.Task, sort fermata.TaskSort) TaskPosition {
	place := TaskPosition{ID: t.ID}
	switch sort {
	case fermata.SortPriority:
		place.Key = int64(t.Priority)
	case fermata.SortUpdated:
		place.Key = t.UpdatedAt.UnixMilli()
	case fermata.SortNewest, fermata.SortOldest:
	}
	return place
}

var taskOrders = map[fermata.TaskSort]listOrder{
	fermata.SortNewest: {desc: true}, fermata.SortOldest: {},
	fermata.SortPriority: {by: "priority"}, fermata.SortUpdated: {by: "updated_at", desc: true},
}

// addAfter adds the condition that a task comes after a position.
func (w *whereClause) addAfter(o listOrder, place TaskPosition) {
	if place.ID == "" {
		return
	}
	if o.by == "" {
		w.add("id "+o.operator()+" $%d", place.ID)
		return
	}
	w.args = append(w.args, place.Key, place.ID)
	n := len(w.args)
	w.conditions = append(w.conditions, fmt.Sprintf("(%s, id) %s ($%d, $%d)", o.by, o.operator(), n-1, n))
}

// taskConditions returns the conditions of a filter, except those on the states.
func (r Reader) taskConditions(f TaskFilter) *whereClause {
	w := r.newWhereClause()
	if f.index == "project" {
		w.addIndexed("project", f.Project)
	} else {
		w.addEqual("project", f.Project)
	}
	w.addVisible(r.visible, "project")
	if f.index == "agent" {
		w.add("agent || '' = $%d AND agent <> ''", f.Agent)
	} else {
		w.addEqual("agent", f.Agent)
	}
	if f.ParentID != "" {
		w.add("parent_id = $%d AND parent_id <> ''", f.ParentID)
	}
	w.addContains("title", f.Text)
	if f.Label != "" {
		w.add(r.d.hasLabel, f.Label)
	}
	return w
}

// Tasks lists tasks. Only the tasks of the page are read as whole rows. All others are read from an index.
func (r Reader) Tasks(f TaskFilter) ([]*fermata.Task, error) {
	states := f.knownStates()
	if len(states) == 0 {
		return nil, nil
	}
	order := taskOrders[cmp.Or(f.Sort, fermata.SortNewest)]
	if f.Label != "" && f.ParentID == "" {
		return r.tasksOfLabel(f, order)
	}
	column, isWhole, err := r.chooseTaskIndex(f, order)
	if err != nil {
		return nil, err
	}
	f.index = column
	w := r.taskConditions(f)
	w.addAfter(order, f.After)
	if isWhole {
		w.addStates(f.States)
		return list(r, r.scanTask, "SELECT "+taskColumns+" FROM tasks WHERE "+w.sql()+
			fmt.Sprintf(" ORDER BY %s LIMIT %d", order.sql(), f.Limit), w.args...)
	}
	return list(r, r.scanTask, r.firstRows(taskColumns, "tasks", order, f.parts(r.d, states, order, w), f.Limit), w.args...)
}

// chooseTaskIndex returns the column, project or agent, through whose index a list is read, or "". It reports whether the
// list is read as a whole: if the index contains few tasks or has the order of the list. Otherwise each state is read
// through an index of its own.
func (r Reader) chooseTaskIndex(f TaskFilter, order listOrder) (column string, isWhole bool, err error) {
	if f.ParentID != "" {
		return "", true, nil
	}
	column, err = r.firstOfFew("tasks", columnValue{"agent", f.Agent}, columnValue{"project", f.Project})
	switch {
	case err != nil || column != "":
		return column, true, err
	case len(f.States) > 0 || order.by != "":
		return "", false, nil
	case f.Project != "":
		return "project", true, nil
	case f.Agent != "":
		return "agent", true, nil
	}
	return "", true, nil
}

// tasksOfLabel lists the tasks of a label. It reads each task that has the label, up to the end of the page.
func (r Reader) tasksOfLabel(f TaskFilter, order listOrder) ([]*fermata.Task, error) {
	conditions := f
	conditions.Label = ""
	w := r.taskConditions(conditions)
	w.addAfter(order, f.After)
	part := f.labelPart(w, order)
	return list(r, r.scanTask, r.firstRows(taskColumns, "tasks", order, []string{part}, f.Limit), w.args...)
}

// knownStates returns the states of the filter, or all states if it has none. Only these names get into the text of a
// statement.
func (f TaskFilter) knownStates() []fermata.TaskState {
	if len(f.States) == 0 {
		return fermata.TaskStates
	}
	return slices.DeleteFunc(slices.Clone(fermata.TaskStates), func(s fermata.TaskState) bool { return !slices.Contains(f.States, s) })
}

// addStates keeps the rows in one of the states. An empty list keeps all.
func (w *whereClause) addStates(states []fermata.TaskState) {
	if len(states) > 0 && len(states) < len(fermata.TaskStates) {
		w.addIn("state", slices.Compact(slices.Sorted(slices.Values(states))))
	}
}

// IsByProject reports whether the filter keeps all tasks of a project or of the workspace, apart from their states.
func (f TaskFilter) IsByProject() bool {
	return f.Label == "" && f.Agent == "" && f.ParentID == "" && f.Text == ""
}

// ProjectCount is the number of tasks of a project in a state.
type ProjectCount struct {
	Project string
	State   fermata.TaskState
	N       int64
}

// CountTasksByProject counts all tasks by project and state. The second result is the number of the last event that the
// counts include.
func (r Reader) CountTasksByProject() ([]ProjectCount, int64, error) {
	var seq int64
	// One statement sees one state of the database.
	counts, err := list(r, func(rs rows) (ProjectCount, error) {
		var c ProjectCount
		var state string
		err := rs.Scan(&c.Project, &state, &c.N, &seq)
		c.State = fermata.TaskState(state)
		return c, err
	}, `SELECT project, state, count(*), (SELECT event_seq FROM workspaces WHERE id = $1) FROM tasks WHERE workspace_id = $1 GROUP BY project, state`, r.workspace)
	return counts, seq, err
}

// CountTasksByState counts the tasks that the filter keeps, by state. It ignores the
// filter's states.
func (r Reader) CountTasksByState(f TaskFilter) (fermata.TaskCounts, error) {
	counts := fermata.NewTaskCounts()
	w := r.taskConditions(f)
	var parts []string
	// A task that got a message while its question is pending is not suspended.
	for _, from := range []string{
		" FROM tasks WHERE " + onBoard + " AND ", fromState(fermata.TaskInputReceived), suspendedTasks + "NOT (" + onBoard + ") AND state <> 'input_received' AND ",
	} {
		parts = append(parts, "SELECT state || '' AS kind, count(*), 0"+from+w.sql()+" GROUP BY state || ''")
	}
	rows, err := list(r, scanCount, strings.Join(parts, " UNION ALL "), w.args...)
	for _, n := range rows {
		counts.Add(fermata.TaskState(n.Kind), n.N)
	}
	return counts, err
}

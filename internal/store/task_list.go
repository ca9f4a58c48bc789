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

// taskOrder is an order of tasks in SQL.
type taskOrder struct {
	// by is the sort column before the id; it is empty if the id alone decides.
	by string
	// desc reports whether the largest value comes first.
	desc bool
}

var taskOrders = map[fermata.TaskSort]taskOrder{
	fermata.SortNewest: {desc: true}, fermata.SortOldest: {},
	fermata.SortPriority: {by: "priority"}, fermata.SortUpdated: {by: "updated_at", desc: true},
}

func (o taskOrder) sql() string {
	way := ""
	if o.desc {
		way = " DESC"
	}
	if o.by == "" {
		return "id" + way
	}
	return o.by + way + ", id" + way
}

// addAfter adds the condition that a task comes after a position.
func (o taskOrder) addAfter(w *whereClause, place TaskPosition) {
	if place.ID == "" {
		return
	}
	operator := ">"
	if o.desc {
		operator = "<"
	}
	if o.by == "" {
		w.add("id "+operator+" $%d", place.ID)
		return
	}
	w.args = append(w.args, place.Key, place.ID)
	n := len(w.args)
	w.conditions = append(w.conditions, fmt.Sprintf("(%s, id) %s ($%d, $%d)", o.by, operator, n-1, n))
}

// onBoard is the condition of the board's index. inState is a condition on the
// state that fits this index and no other one.
const (
	onBoard = "state <> 'awaiting_input' AND state <> 'awaiting_approval' AND state <> 'input_received'"
	inState = "state || '' = '%s'"
)

// suspendedTasks joins tasks to the one question that suspends each of them. The
// index of these questions is in the order of the tasks' ids.
const suspendedTasks = ` FROM (SELECT task_id AS suspended_id FROM questions WHERE workspace_id || '' = $1 AND status = 'pending'
	AND type <> 'non_blocking') AS q CROSS JOIN tasks WHERE id = suspended_id AND `

// receivedTasks joins tasks to those in the state input_received. The index of
// these begins with the runner, and without the join SQLite would read the
// whole workspace.
const receivedTasks = ` FROM (SELECT id AS received_id FROM tasks WHERE workspace_id || '' = $1 AND state = 'input_received') AS q
	CROSS JOIN tasks WHERE id = received_id AND `

// fromState returns the part of a query that reads the tasks of a state through
// the index that contains them.
func fromState(state fermata.TaskState) string {
	in := fmt.Sprintf(inState, state) + " AND "
	switch {
	case state.IsSuspended():
		return suspendedTasks + in
	case state == fermata.TaskInputReceived:
		return receivedTasks
	default:
		return " FROM tasks WHERE " + onBoard + " AND " + in
	}
}

// sqlFor returns the ORDER BY expression for the tasks of a state.
func (o taskOrder) sqlFor(state fermata.TaskState) string {
	if o.by == "" && state.IsSuspended() {
		return strings.Replace(o.sql(), "id", "suspended_id", 1)
	}
	return o.sql()
}

// taskConditions returns the conditions of a filter, except those on the states.
func (r Reader) taskConditions(f TaskFilter) *whereClause {
	w := r.newWhereClause()
	w.addEqual("project", f.Project)
	w.addVisible(r.visible, "project")
	w.addEqual("agent", f.Agent)
	if f.ParentID != "" {
		w.add("parent_id = $%d AND parent_id <> ''", f.ParentID)
	}
	w.addContains("title", f.Text)
	if f.Label != "" {
		w.add(r.d.hasLabel, f.Label)
	}
	return w
}

// Tasks lists tasks. Each state is read through the index that contains its
// tasks, so a short list costs the same among a million tasks.
func (r Reader) Tasks(f TaskFilter) ([]*fermata.Task, error) {
	order := taskOrders[cmp.Or(f.Sort, fermata.SortNewest)]
	w := r.taskConditions(f)
	order.addAfter(w, f.After)
	orderAndLimit := func(by string) string { return fmt.Sprintf(" ORDER BY %s LIMIT %d", by, f.Limit) }
	if len(f.States) == 0 {
		return list(r, r.scanTask, "SELECT "+taskColumns+" FROM tasks WHERE "+w.sql()+orderAndLimit(order.sql()), w.args...)
	}
	var parts []string
	for _, state := range fermata.TaskStates {
		// Only names that the program knows get into the text of a statement.
		if slices.Contains(f.States, state) {
			parts = append(parts, "SELECT * FROM (SELECT "+taskColumns+fromState(state)+w.sql()+orderAndLimit(order.sqlFor(state))+") AS "+string(state))
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	return list(r, r.scanTask, strings.Join(parts, " UNION ALL ")+orderAndLimit(order.sql()), w.args...)
}

// CountTasksByState counts the tasks that the filter keeps, by state. It ignores the
// filter's states.
func (r Reader) CountTasksByState(f TaskFilter) (fermata.TaskCounts, error) {
	counts := fermata.NewTaskCounts()
	w := r.taskConditions(f)
	var parts []string
	for _, from := range []string{
		" FROM tasks WHERE " + onBoard + " AND ", fromState(fermata.TaskInputReceived), suspendedTasks,
	} {
		parts = append(parts, "SELECT state || '' AS kind, count(*), 0"+from+w.sql()+" GROUP BY state || ''")
	}
	rows, err := list(r, scanCount, strings.Join(parts, " UNION ALL "), w.args...)
	for _, n := range rows {
		counts.Add(fermata.TaskState(n.Kind), n.N)
	}
	return counts, err
}

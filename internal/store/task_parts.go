package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
)

// onBoard is the condition of the board's index. hasEnded is the condition of the index of ended tasks by their last
// change, and isSetAside that of the index of tasks that wait for something other than a person. inState is a condition
// on the state that fits these indexes and no other one.
const (
	onBoard    = "state <> 'awaiting_input' AND state <> 'awaiting_approval' AND state <> 'input_received'"
	hasEnded   = "(state = 'done' OR state = 'failed' OR state = 'cancelled' OR state = 'skipped')"
	isSetAside = "state IN ('blocked', 'deferred')"
	inState    = "state || '' = '%s'"
)

// suspendedTasks joins tasks to the one question that suspends each of them.
const suspendedTasks = ` FROM (SELECT task_id AS suspended_id FROM questions WHERE workspace_id || '' = $1 AND status = 'pending'
	AND type <> 'non_blocking') AS q CROSS JOIN tasks WHERE id = suspended_id AND `

// receivedTasks joins tasks to those in the state input_received. The index of
// these begins with the runner, and without the join SQLite would read the
// whole workspace.
const receivedTasks = ` FROM (SELECT id AS received_id FROM tasks WHERE workspace_id || '' = $1 AND state = 'input_received') AS q
	CROSS JOIN tasks WHERE id = received_id AND `

// fromState returns the part of a query that reads the tasks of a state through the index that contains them.
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

// parts returns the parts of a query for the tasks in the states, as [listOrder.firstIDs] takes them.
func (f TaskFilter) parts(d *dialect, states []fermata.TaskState, order listOrder, w *whereClause) []string {
	switch order.by {
	case "priority":
		return f.priorityParts(d, states, w.sql())
	case "updated_at":
		return changeParts(states, w.sql())
	default:
		return f.idParts(states, order, w.sql())
	}
}

// idParts returns the parts for an order by the ids.
func (f TaskFilter) idParts(states []fermata.TaskState, order listOrder, conditions string) []string {
	var parts []string
	var suspended []string
	for _, state := range states {
		switch {
		case state.IsSuspended():
			suspended = append(suspended, fmt.Sprintf(inState, state))
		case state == fermata.TaskDone && f.Project != "":
			// Most tasks of a project are done, so they are read through the index of the project.
			parts = append(parts, " FROM tasks WHERE state = 'done' AND "+useIndex(conditions, "project"))
		default:
			parts = append(parts, fromState(state)+conditions)
		}
	}
	if len(suspended) == 0 {
		return parts
	}
	// The index of the questions is in the order of the tasks' ids, and both states share it.
	return append(parts, " FROM (SELECT suspended_id AS id"+suspendedTasks+"("+strings.Join(suspended, " OR ")+") AND "+conditions+
		fmt.Sprintf(" ORDER BY %s LIMIT %d) AS suspended", strings.Replace(order.sql(), "id", "suspended_id", 1), f.Limit))
}

// changeParts returns the parts for an order by the last change. Ended tasks have an index in this order. All others are
// read and put in order.
func changeParts(states []fermata.TaskState, conditions string) []string {
	parts := make([]string, len(states))
	for i, state := range states {
		parts[i] = fromState(state) + conditions
		if state.IsEnded() {
			parts[i] = " FROM tasks WHERE " + hasEnded + " AND " + fmt.Sprintf(inState, state) + " AND " + conditions
		}
	}
	return parts
}

// priorityParts returns the parts for an order by priority. The index by priority leaves out the usual priority. The tasks
// of that priority are read in the order of their ids. The tasks that are running, that wait for a person or got an answer
// have no index in this order, so they are read and put in order.
func (f TaskFilter) priorityParts(d *dialect, states []fermata.TaskState, conditions string) []string {
	usual := fmt.Sprintf("priority = %d AND ", fermata.DefaultPriority) + conditions
	if len(states) == len(fermata.TaskStates) {
		return append(unusualPriorities(conditions), " FROM tasks WHERE "+usual)
	}
	isDoneIn := slices.Contains(states, fermata.TaskDone)
	var parts, ended []string
	for _, state := range states {
		switch {
		case isDoneIn && state.IsEnded():
			ended = append(ended, "'"+string(state)+"'")
			parts = append(parts, fromState(state)+usual)
		case state == fermata.TaskOpen:
			parts = append(parts, f.openPart(d, conditions))
		case state == fermata.TaskBlocked || state == fermata.TaskDeferred:
			parts = append(parts, " FROM tasks WHERE "+isSetAside+" AND "+fmt.Sprintf(inState, state)+" AND "+conditions)
		default:
			parts = append(parts, fromState(state)+conditions)
		}
	}
	if isDoneIn {
		parts = append(parts, unusualPriorities("state IN ("+strings.Join(ended, ", ")+") AND "+conditions)...)
	}
	return parts
}

// unusualPriorities returns the parts for the tasks above and below the usual priority.
func unusualPriorities(conditions string) []string {
	return []string{
		fmt.Sprintf(" FROM tasks WHERE priority <> %[1]d AND priority < %[1]d AND ", fermata.DefaultPriority) + conditions,
		fmt.Sprintf(" FROM tasks WHERE priority <> %[1]d AND priority > %[1]d AND ", fermata.DefaultPriority) + conditions,
	}
}

// openRunners are the runners of open tasks. It jumps from one runner to the next.
const openRunners = `WITH RECURSIVE runners (runner_name) AS (
	SELECT (SELECT runner FROM tasks WHERE state = 'open' ORDER BY runner LIMIT 1)
	UNION ALL
	SELECT (SELECT runner FROM tasks WHERE state = 'open' AND runner > runner_name ORDER BY runner LIMIT 1) FROM runners WHERE runner_name IS NOT NULL)
	SELECT runner_name, kind FROM runners CROSS JOIN (SELECT 0 AS kind UNION ALL SELECT 1) AS kinds WHERE runner_name IS NOT NULL`

// openPart returns the part for the first open tasks in the order of their priority. The index of open tasks has this
// order for each runner and for isolated tasks.
func (f TaskFilter) openPart(d *dialect, conditions string) string {
	first := "SELECT id FROM tasks WHERE state = 'open' AND runner = runner_name AND isolated = kind AND " + conditions +
		fmt.Sprintf(" ORDER BY priority, id LIMIT %d", f.Limit)
	return " FROM (" + openRunners + ") AS open_runners CROSS JOIN tasks WHERE workspace_id = $1 AND " + fmt.Sprintf(d.inQuery, "id", first)
}

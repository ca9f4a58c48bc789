package store

import (
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
)

// replaceLabels makes the rows of a task's labels those of the task.
func (tx *Tx) replaceLabels(t *fermata.Task) {
	tx.execAny("DELETE FROM task_labels WHERE workspace_id = $1 AND task_id = $2", tx.workspace, t.ID)
	tx.insertLabels(t)
}

func (tx *Tx) insertLabels(t *fermata.Task) {
	for _, label := range t.Labels {
		tx.execAny(insertLabelSQL, tx.workspace, t.ID, label)
	}
}

// insertAssignees adds the rows of a question's assignees. Rows of earlier assignees stay, so a list compares the
// question itself as well.
func (tx *Tx) insertAssignees(q *fermata.Question) {
	for _, name := range q.Assignees {
		tx.execAny(insertAssigneeSQL, tx.workspace, q.ID, strings.ToLower(name))
	}
}

// closeAssignees marks the rows of the assignees of a question that has closed.
func (tx *Tx) closeAssignees(q *fermata.Question) {
	if len(q.Assignees) > 0 {
		tx.execAny("UPDATE question_assignees SET closed = 1 WHERE workspace_id = $1 AND question_id = $2", tx.workspace, q.ID)
	}
}

const (
	insertLabelSQL = `INSERT INTO task_labels (workspace_id, task_id, label) VALUES ($1, $2, $3)
		ON CONFLICT (workspace_id, task_id, label) DO NOTHING`
	insertAssigneeSQL = `INSERT INTO question_assignees (workspace_id, question_id, assignee) VALUES ($1, $2, $3)
		ON CONFLICT (workspace_id, question_id, assignee) DO NOTHING`
)

// labelledTasks selects the ids of the tasks with a label. Its index is in the order of the ids.
const labelledTasks = " FROM (SELECT task_id AS listed_id FROM task_labels WHERE label = $%d AND workspace_id = $1) AS l "

// assignedQuestions selects the ids of an assignee's questions: the closed ones, or the pending ones. Its index is in the
// order of the ids.
const assignedQuestions = " FROM (SELECT question_id AS listed_id FROM question_assignees WHERE assignee = $%d AND workspace_id = $1 AND closed = %d) AS a "

// joinLabelledTasks returns the FROM clause, and the beginning of the WHERE clause, of a query for the tasks with a label.
// parameter is the number of the query's parameter that contains the label.
func (d *dialect) joinLabelledTasks(parameter int) string {
	return fmt.Sprintf(labelledTasks, parameter) + fmt.Sprintf(d.listedRow, "tasks")
}

// joinAssignedQuestions returns the FROM clause, and the beginning of the WHERE clause, of a query for an assignee's
// questions: the closed ones, or the pending ones. parameter is the number of the query's parameter that contains the
// assignee.
func (d *dialect) joinAssignedQuestions(parameter int, closed bool) string {
	return fmt.Sprintf(assignedQuestions, parameter, boolColumn(closed)) + fmt.Sprintf(d.listedRow, "questions")
}

// listedPart returns a part for [listOrder.firstIDs] of a join that contains the ids as listed_id.
// If the ids alone are the order, the database reads the index only as far as the page needs.
func (o listOrder) listedPart(join, conditions string, limit int) string {
	if o.by != "" {
		return join + conditions
	}
	return " FROM (SELECT listed_id AS id" + join + conditions +
		fmt.Sprintf(" ORDER BY %s LIMIT %d) AS listed", strings.Replace(o.sql(), "id", "listed_id", 1), limit)
}

// labelPart returns the part for the tasks with a label, in one of the states if there are any.
func (f TaskFilter) labelPart(w *whereClause, order listOrder) string {
	w.args = append(w.args, f.Label)
	join := w.d.joinLabelledTasks(len(w.args))
	w.addStates(f.States)
	return order.listedPart(join, w.sql(), f.Limit)
}

package store

import (
	"fmt"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// EndedPosition is a position among the ended tasks, in the order of their last change.
type EndedPosition struct {
	UpdatedAt int64
	ID        string
}

// EndedRoots lists ended tasks without a parent that changed last before an instant, the oldest first.
func (r Reader) EndedRoots(before time.Time, after EndedPosition, limit int) ([]*fermata.Task, error) {
	w := r.newWhereClause()
	w.add("updated_at < $%d", before.UnixMilli())
	w.args = append(w.args, after.UpdatedAt, after.ID)
	w.conditions = append(w.conditions, fmt.Sprintf("(updated_at, id) > ($%d, $%d)", len(w.args)-1, len(w.args)), "parent_id = ''")
	var ended []fermata.TaskState
	for _, s := range fermata.TaskStates {
		if s.IsEnded() {
			ended = append(ended, s)
		}
	}
	return list(r, r.scanTask, r.firstRows(taskColumns, "tasks", listOrder{by: "updated_at"}, changeParts(ended, w.sql()), limit), w.args...)
}

// LastEvents returns the numbers of the last event about each of the tasks.
func (r Reader) LastEvents(taskIDs []string) (map[string]int64, error) {
	return mapByID(r, scanNumber,
		"SELECT task_id, max(seq) FROM events WHERE workspace_id || '' = $1 AND "+fmt.Sprintf(r.d.inList, "task_id", 2)+" AND task_id <> '' GROUP BY task_id",
		r.workspace, columnText(taskIDs))
}

// EventSeqs returns the numbers of all events about the tasks, in order.
func (r Reader) EventSeqs(taskIDs []string) ([]int64, error) {
	return list(r, scanInt, "SELECT seq FROM events WHERE workspace_id || '' = $1 AND "+fmt.Sprintf(r.d.inList, "task_id", 2)+" AND task_id <> '' ORDER BY seq",
		r.workspace, columnText(taskIDs))
}

// TaskVersions returns the versions of the tasks, by id.
func (r Reader) TaskVersions(ids []string) (map[string]int64, error) {
	return mapByID(r, scanNumber, fmt.Sprintf(r.d.byID, "id, version", "tasks"), r.workspace, columnText(ids))
}

// TasksInUse returns which of the tasks something still needs: a task that waits for one and is not among them, a pending
// question, or a message that is still to be sent or changed.
func (r Reader) TasksInUse(ids []string) ([]string, error) {
	in := func(column string) string { return fmt.Sprintf(r.d.inList, column, 2) }
	return list(r, scanString, strings.Join([]string{
		"SELECT blocks_on FROM task_dependencies WHERE workspace_id || '' = $1 AND " + in("blocks_on") + " AND NOT (" + in("task_id") + ")",
		"SELECT task_id FROM questions WHERE workspace_id || '' = $1 AND " + in("task_id") + " AND status || '' = 'pending'",
		"SELECT q.task_id FROM questions q CROSS JOIN deliveries d WHERE q.workspace_id || '' = $1 AND " + in("q.task_id") +
			" AND d.question_id = q.id AND d.question_id <> '' AND d.workspace_id = $1 AND d.next_at > 0",
	}, " UNION "), r.workspace, columnText(ids))
}

// FirstUnreadEvent returns the number of the first event that the server itself still has to read: to plan messages, to
// start workflows, or to send the event.
func (r Reader) FirstUnreadEvent() (int64, error) {
	head, err := r.Head()
	if err != nil {
		return 0, err
	}
	found, err := list(r, scanInt, `SELECT event_seq + 1 FROM delivery_plans WHERE workspace_id = $1 AND event_seq >= 0
		UNION ALL SELECT event_seq + 1 FROM trigger_cursors WHERE workspace_id = $1
		UNION ALL SELECT min(event_seq) FROM deliveries WHERE next_at > 0 AND workspace_id || '' = $1 AND event_seq > 0 HAVING count(*) > 0`, r.workspace)
	least := head.Seq + 1
	for _, seq := range found {
		least = min(least, seq)
	}
	return least, err
}

// deleteOfTasks are the statements that delete what belongs to tasks. The order matters: some rows are found through others.
var deleteOfTasks = []string{
	"DELETE FROM run_log WHERE workspace_id = $1 AND run_id IN (SELECT id FROM runs WHERE workspace_id || '' = $1 AND %s)",
	"DELETE FROM runs WHERE workspace_id || '' = $1 AND %s",
	"DELETE FROM messages WHERE workspace_id || '' = $1 AND %s",
	"DELETE FROM steps WHERE workspace_id = $1 AND %s",
	"DELETE FROM workflow_runs WHERE workspace_id = $1 AND %s",
	"DELETE FROM task_labels WHERE workspace_id = $1 AND %s",
	"DELETE FROM task_dependencies WHERE workspace_id = $1 AND %s",
	"DELETE FROM questions WHERE workspace_id || '' = $1 AND %s",
}

// deleteOfQuestions are the statements that delete what belongs to questions.
var deleteOfQuestions = []string{
	"DELETE FROM question_assignees WHERE workspace_id = $1 AND %s",
	"DELETE FROM grants_used WHERE workspace_id = $1 AND %s",
	"DELETE FROM deliveries WHERE workspace_id || '' = $1 AND %s AND question_id <> ''",
}

// DeleteTasks deletes tasks and their questions, with everything that belongs to them except their events.
func (tx *Tx) DeleteTasks(ids []string) error {
	questions, err := list(tx.Reader, func(rs rows) (askedQuestion, error) {
		var q askedQuestion
		return q, rs.Scan(&q.id, &q.askedAt)
	}, "SELECT id, created_at FROM questions WHERE workspace_id || '' = $1 AND "+fmt.Sprintf(tx.d.inList, "task_id", 2), tx.workspace, columnText(ids))
	if err != nil {
		return err
	}
	questionIDs := make([]string, len(questions))
	for i, q := range questions {
		questionIDs[i] = q.id
		tx.execAny("DELETE FROM closings WHERE workspace_id = $1 AND asked_at = $2 AND question_id = $3", tx.workspace, q.askedAt, q.id)
	}
	tx.deleteAmong(deleteOfQuestions, "question_id", questionIDs)
	tx.deleteAmong(deleteOfTasks, "task_id", ids)
	tx.deleteAmong([]string{"DELETE FROM tasks WHERE workspace_id = $1 AND %s"}, "id", ids)
	tx.markStale(ids...)
	tx.markStale(questionIDs...)
	return nil
}

// askedQuestion is the key of a row in the table of closings.
type askedQuestion struct {
	id      string
	askedAt int64
}

func (tx *Tx) deleteAmong(statements []string, column string, ids []string) {
	if len(ids) == 0 {
		return
	}
	for _, sql := range statements {
		tx.execAny(fmt.Sprintf(sql, fmt.Sprintf(tx.d.inList, column, 2)), tx.workspace, columnText(ids))
	}
}

// RunsWithLogs lists runs that began before an instant and have a log, the oldest first. A run appears once for each piece
// of its log, of which there are at most limit.
func (r Reader) RunsWithLogs(before time.Time, after string, limit int) ([]string, error) {
	return list(r, scanString, "SELECT run_id FROM run_log WHERE workspace_id = $1 AND run_id > $2 AND run_id < $3 ORDER BY run_id, byte_offset LIMIT $4",
		r.workspace, after, fermata.FirstID(fermata.PrefixRun, before), limit)
}

// DeleteLogs deletes the logs of runs.
func (tx *Tx) DeleteLogs(runIDs []string) {
	tx.deleteAmong([]string{"DELETE FROM run_log WHERE workspace_id = $1 AND %s"}, "run_id", runIDs)
}

// SettledDeliveries lists deliveries that were planned before an instant and about which nothing is left to be done: their
// question, if they have one, is closed.
func (r Reader) SettledDeliveries(before time.Time, limit int) ([]string, error) {
	return list(r, scanString, `SELECT id FROM deliveries d WHERE workspace_id = $1 AND id < $2 AND next_at = 0 AND leased_until = 0
		AND NOT EXISTS (SELECT 1 FROM questions q WHERE q.workspace_id = $1 AND q.id = d.question_id AND q.status || '' = 'pending') ORDER BY id LIMIT $3`,
		r.workspace, fermata.FirstID(fermata.PrefixDelivery, before), limit)
}

// DeleteDeliveries deletes deliveries about which nothing is left to be done.
func (tx *Tx) DeleteDeliveries(ids []string) {
	tx.markStale(ids...)
	tx.deleteAmong([]string{"DELETE FROM deliveries WHERE workspace_id = $1 AND %s AND next_at = 0 AND leased_until = 0"}, "id", ids)
}

package store

import (
	"github.com/fermata-hq/fermata"
)

const messageColumns = "id, task_id, question_id, kind, author, body, cancels, handed_to, handed_at, created_at"

func (r Reader) scanMessage(rs rows) (*fermata.Message, error) {
	m := &fermata.Message{WorkspaceID: r.workspace}
	var kind, author string
	var cancels, handedAt, createdAt int64
	if err := rs.Scan(&m.ID, &m.TaskID, &m.QuestionID, &kind, &author, &m.Body, &cancels, &m.HandedTo, &handedAt, &createdAt); err != nil {
		return nil, err
	}
	if m.HandedTo == notForRuns {
		m.HandedTo = ""
	}
	m.Kind, m.Cancels, m.HandedAt, m.CreatedAt = fermata.MessageKind(kind), cancels == 1, optionalInstant(handedAt), instantOf(createdAt)
	return m, parseColumn("author", author, (*actor)(&m.Author))
}

// Messages lists the messages of a task's thread after the given one, oldest first.
func (r Reader) Messages(taskID, after string, limit int) ([]*fermata.Message, error) {
	return list(r, r.scanMessage, "SELECT "+messageColumns+
		" FROM messages WHERE workspace_id = $1 AND task_id = $2 AND id > $3 ORDER BY id LIMIT $4", r.workspace, taskID, after, limit)
}

// MessagesByID returns the messages with the ids.
func (r Reader) MessagesByID(ids []string) ([]*fermata.Message, error) {
	return listByID(r, r.scanMessage, messageColumns, "messages", ids, func(m *fermata.Message) string { return m.ID })
}

// UnhandedMessages lists the messages of a task that Fermata has handed to no run, oldest first. If runID is not empty,
// it also lists the messages that this run got.
func (r Reader) UnhandedMessages(taskID, runID string) ([]*fermata.Message, error) {
	return list(r, r.scanMessage, unhandedMessagesSQL("$2"), r.workspace, taskID, runID)
}

// unhandedMessagesSQL returns the query of [Reader.UnhandedMessages], with the same expression and parameters as
// unhandedQuestionsSQL.
func unhandedMessagesSQL(task string) string {
	return "SELECT " + messageColumns + " FROM messages WHERE workspace_id = $1 AND task_id = " + task +
		" AND (handed_to = '' OR handed_to = $3) ORDER BY id"
}

// notForRuns is the value of the column handed_to for a message that is handed to no run.
const notForRuns = "-"

// InsertMessage adds a message to a task's thread. If forRuns is true, the next run of the task gets the message.
func (tx *Tx) InsertMessage(m *fermata.Message, forRuns bool) {
	tx.markHandOverStale(m.TaskID)
	m.WorkspaceID = tx.workspace
	handedTo := ""
	if !forRuns {
		handedTo = notForRuns
	}
	tx.exec(`INSERT INTO messages (workspace_id, id, task_id, question_id, kind, author, body, cancels, handed_to, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		tx.workspace, m.ID, m.TaskID, m.QuestionID, string(m.Kind), columnText(actor(m.Author)), m.Body, boolColumn(m.Cancels), handedTo, m.CreatedAt.UnixMilli())
}

// HandMessages records the hand-over of the task's unhanded messages to the run.
func (tx *Tx) HandMessages(taskID, runID string) {
	tx.markHandOverStale(taskID)
	tx.execAny("UPDATE messages SET handed_to = $1, handed_at = $2 WHERE workspace_id = $3 AND task_id = $4 AND handed_to = ''",
		runID, tx.Now().UnixMilli(), tx.workspace, taskID)
}

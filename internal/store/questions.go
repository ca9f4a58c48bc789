package store

import (
	"cmp"
	"math"

	"github.com/fermata-hq/fermata"
)

// noDeadline is the stored deadline of a question that waits forever. It lets the inbox sort by this one column.
const noDeadline = math.MaxInt64

const questionColumns = `id, task_id, run_id, project, type, status, title, priority, deadline, assignees, idempotency_key,
	dedupe_key, fingerprint, asked, escalation_level, ask_count, votes, resolution, handed_to, created_at, unreached, version`

// askedColumn is the part of a question that never changes, as the column asked stores it. Its fields replace those of
// [fermata.Asked] that the column writes in another form.
type askedColumn struct {
	fermata.Asked
	Action []byte `json:"action,omitempty"`
	State  []byte `json:"state,omitempty"`
	// Risk is empty if the risk is low.
	Risk    fermata.Risk `json:"risk,omitempty"`
	AskedBy actor        `json:"asked_by"`
}

func newAskedColumn(a fermata.Asked) askedColumn {
	c := askedColumn{Asked: a, Action: a.Action, State: a.State, Risk: a.Risk, AskedBy: actor(a.AskedBy)}
	if c.Risk == fermata.RiskLow {
		c.Risk = ""
	}
	return c
}

func (c askedColumn) asked() fermata.Asked {
	a := c.Asked
	a.Action, a.State, a.Risk, a.AskedBy = c.Action, c.State, cmp.Or(c.Risk, fermata.RiskLow), fermata.Actor(c.AskedBy)
	return a
}

func (r Reader) scanQuestion(rs rows) (*fermata.Question, error) {
	dest, build := r.questionRow()
	return scan(rs, dest, build)
}

// questionRow returns the destinations for the columns of a question, and a function that builds the question from
// them.
func (r Reader) questionRow() (dest []any, build func() (*fermata.Question, error)) {
	q := &fermata.Question{WorkspaceID: r.workspace}
	var typ, status, assignees, askedJSON, votes, resolution string
	var deadline, createdAt int64
	dest = []any{
		&q.ID, &q.TaskID, &q.RunID, &q.Project, &typ, &status, &q.Title, &q.Priority, &deadline, &assignees,
		&q.IdempotencyKey, &q.DedupeKey, &q.Fingerprint, &askedJSON, &q.EscalationLevel, &q.AskCount, &votes, &resolution,
		&q.HandedTo, &createdAt, &q.UnreachedReason, &q.Version,
	}
	return dest, func() (*fermata.Question, error) {
		q.Type, q.Status, q.CreatedAt = fermata.QuestionType(typ), fermata.QuestionStatus(status), instantOf(createdAt)
		if deadline != noDeadline {
			q.Deadline = optionalInstant(deadline)
		}
		var a askedColumn
		if err := parseColumn("asked", askedJSON, &a); err != nil {
			return nil, err
		}
		q.Asked = a.asked()
		if len(q.Action) > 0 && !fermata.HasHash(q.Action, q.ActionHash) {
			// The action or its hash was changed in the database. The hash of the changed action gets a prefix, so that
			// an approval covers this action and no other. No event contains a hash with this prefix.
			q.ActionHash = "changed:" + fermata.HashAction(q.Action)
		}
		if err := parseColumn("assignees", assignees, &q.Assignees); err != nil {
			return nil, err
		}
		if err := parseColumn("votes", votes, &q.Votes); err != nil {
			return nil, err
		}
		switch {
		case resolution == "":
			return q, nil
		case q.Status == fermata.Pending:
			row := heldRow{HeldAnswer: &fermata.HeldAnswer{}}
			err := parseColumn("resolution", resolution, &row)
			q.HeldAnswer = row.HeldAnswer
			q.HeldAnswer.Salt = row.Salt
			return q, err
		default:
			q.Resolution = &fermata.Resolution{}
			return q, parseColumn("resolution", resolution, q.Resolution)
		}
	}
}

// heldRow is a held answer as the column resolution stores it.
type heldRow struct {
	*fermata.HeldAnswer
	Salt string `json:"salt,omitempty"`
}

// resolutionColumn returns the text of the column resolution: how the question ended, or the held answer of a pending
// question.
func resolutionColumn(q *fermata.Question) string {
	if q.HeldAnswer != nil {
		return exactColumnText(heldRow{q.HeldAnswer, q.HeldAnswer.Salt})
	}
	return exactColumnText(q.Resolution)
}

func deadlineColumn(q *fermata.Question) int64 {
	if q.Deadline == nil {
		return noDeadline
	}
	return q.Deadline.UnixMilli()
}

// Question returns the question with the id.
func (r Reader) Question(id string) (*fermata.Question, error) {
	q, err := scanOne(r, "question", id, r.scanQuestion, questionByIDSQL, r.workspace, id)
	if err != nil {
		return nil, err
	}
	return requireVisible(r, "question", id, q, q.Project)
}

const questionByIDSQL = "SELECT " + questionColumns + " FROM questions WHERE workspace_id = $1 AND id = $2"

// QuestionByKey returns the question that the asker asked with an idempotency key.
func (r Reader) QuestionByKey(key string, by fermata.Actor) (*fermata.Question, error) {
	found, err := list(r, r.scanQuestion, questionByKeySQL, r.workspace, key, askerColumn(by))
	if err != nil {
		return nil, err
	}
	for _, q := range found {
		if askerColumn(q.AskedBy) == askerColumn(by) {
			return q, nil
		}
	}
	return nil, fermata.NotFound("question with the key", key)
}

// The column asker is empty for questions that were asked before the column existed.
const questionByKeySQL = "SELECT " + questionColumns + ` FROM questions WHERE workspace_id = $1 AND idempotency_key = $2
	AND idempotency_key <> '' AND asker IN ($3, '')`

// askerColumn returns the text that identifies an asker.
func askerColumn(a fermata.Actor) string { return string(a.Kind) + ":" + a.ID }

// QuestionsByID returns the questions with the ids.
func (r Reader) QuestionsByID(ids []string) ([]*fermata.Question, error) {
	found, err := listByID(r, r.scanQuestion, questionColumns, "questions", ids, questionID)
	return filterVisible(r, found, projectOfQuestion), err
}

// PendingQuestionsOf lists a task's pending questions.
func (r Reader) PendingQuestionsOf(taskID string) ([]*fermata.Question, error) {
	return list(r, r.scanQuestion, "SELECT "+questionColumns+
		" FROM questions WHERE workspace_id = $1 AND task_id = $2 AND status || '' = 'pending' ORDER BY id", r.workspace, taskID)
}

// UnhandedQuestions lists a task's closed questions that Fermata has handed to no run, oldest first. If runID is not
// empty, it also lists the questions that this run got.
func (r Reader) UnhandedQuestions(taskID, runID string) ([]*fermata.Question, error) {
	return list(r, r.scanQuestion, unhandedQuestionsSQL("$2"), r.workspace, taskID, runID)
}

// unhandedQuestionsSQL returns the query of [Reader.UnhandedQuestions]. task is the SQL expression for the id of the task; it
// may contain the parameter $2. The parameter $3 is the id of a run, or "".
func unhandedQuestionsSQL(task string) string {
	return "SELECT " + questionColumns + " FROM questions WHERE workspace_id = $1 AND task_id = " + task +
		" AND status <> 'pending' AND (handed_to = '' OR handed_to = $3) ORDER BY id"
}

// InsertQuestion adds a question.
func (tx *Tx) InsertQuestion(q *fermata.Question) {
	tx.markStale(q.ID, q.TaskID)
	q.Version, q.WorkspaceID = 1, tx.workspace
	tx.exec(`INSERT INTO questions (workspace_id, id, task_id, run_id, project, type, status, title, priority, deadline,
		assignees, idempotency_key, dedupe_key, fingerprint, asked, resolution, handed_to, created_at, unreached, asker, risk)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`,
		tx.workspace, q.ID, q.TaskID, q.RunID, q.Project, string(q.Type), string(q.Status), q.Title, q.Priority, deadlineColumn(q),
		columnText(q.Assignees), q.IdempotencyKey, q.DedupeKey, q.Fingerprint, columnText(newAskedColumn(q.Asked)), exactColumnText(q.Resolution), q.HandedTo,
		q.CreatedAt.UnixMilli(), q.UnreachedReason, askerColumn(q.AskedBy), string(cmp.Or(q.Risk, fermata.RiskLow)))
	tx.insertAssignees(q)
	if q.Resolution != nil {
		tx.noteClosed(q)
	}
}

// noteClosed writes what belongs to the end of a question.
func (tx *Tx) noteClosed(q *fermata.Question) {
	tx.closed = append(tx.closed, q)
	tx.insertClosing(q)
	tx.closeAssignees(q)
}

// UpdatePending writes the changed fields of a question that was pending when it was read: its end, a vote, the
// deadline, the next level. It is the only statement that closes a question. The write fails if the question was
// changed or closed meanwhile.
func (tx *Tx) UpdatePending(q *fermata.Question) {
	tx.markStale(q.ID, q.TaskID)
	tx.exec(`UPDATE questions SET status = $1, deadline = $2, assignees = $3, escalation_level = $4, ask_count = $5,
		votes = $6, resolution = $7, handed_to = $8, version = version + 1
		WHERE workspace_id = $9 AND id = $10 AND version = $11`+pendingCondition,
		string(q.Status), deadlineColumn(q), columnText(q.Assignees), q.EscalationLevel, q.AskCount, columnText(q.Votes),
		resolutionColumn(q), q.HandedTo, tx.workspace, q.ID, q.Version)
	q.Version++
	if q.Resolution != nil {
		tx.noteClosed(q)
		return
	}
	tx.insertAssignees(q)
}

// SetUnreached stores why no person is told about a pending question. The state of the question does not depend on
// this, so the version does not change.
func (tx *Tx) SetUnreached(q *fermata.Question, reason string) {
	tx.markStale(q.ID, q.TaskID)
	tx.execAny("UPDATE questions SET unreached = $1 WHERE workspace_id = $2 AND id = $3"+pendingCondition, reason, tx.workspace, q.ID)
}

// SaveLateAnswer writes a late answer into the resolution of a closed question. Changes after the call are not written.
func (tx *Tx) SaveLateAnswer(q *fermata.Question) {
	tx.markStale(q.ID)
	tx.markHandOverStale(q.TaskID)
	tx.exec(`UPDATE questions SET resolution = $1, handed_to = $2, version = version + 1
		WHERE workspace_id = $3 AND id = $4 AND version = $5 AND status = 'timed_out'`,
		exactColumnText(q.Resolution), q.HandedTo, tx.workspace, q.ID, q.Version)
	q.Version++
}

// HandQuestions records the hand-over of the task's unhanded closed questions to the run.
func (tx *Tx) HandQuestions(taskID, runID string) {
	tx.markHandOverStale(taskID)
	tx.execAny(`UPDATE questions SET handed_to = $1 WHERE workspace_id = $2 AND task_id = $3 AND status <> 'pending'
		AND handed_to = ''`, runID, tx.workspace, taskID)
}

// HandOverByID is [Tx.HandQuestions] and [Tx.HandMessages] for the questions and messages with the ids.
func (tx *Tx) HandOverByID(taskID, runID string, ids []string) {
	tx.markHandOverStale(taskID)
	for _, id := range ids {
		tx.execAny(`UPDATE questions SET handed_to = $1 WHERE workspace_id = $2 AND id = $3 AND task_id = $4 AND status <> 'pending'
			AND handed_to = ''`, runID, tx.workspace, id, taskID)
		tx.execAny("UPDATE messages SET handed_to = $1, handed_at = $2 WHERE workspace_id = $3 AND id = $4 AND task_id = $5 AND handed_to = ''",
			runID, tx.Now().UnixMilli(), tx.workspace, id, taskID)
	}
}

// TakeBackHandOverByID is [Tx.TakeBackHandOver] for the messages and questions with the ids.
func (tx *Tx) TakeBackHandOverByID(taskID, runID string, ids []string) {
	tx.markHandOverStale(taskID)
	for _, id := range ids {
		tx.execAny("UPDATE questions SET handed_to = '' WHERE workspace_id = $1 AND id = $2 AND task_id = $3 AND handed_to = $4",
			tx.workspace, id, taskID, runID)
		tx.execAny("UPDATE messages SET handed_to = '', handed_at = 0 WHERE workspace_id = $1 AND id = $2 AND task_id = $3 AND handed_to = $4",
			tx.workspace, id, taskID, runID)
	}
}

// TakeBackHandOver undoes the hand-over to a run that ended without having used it. The next run gets the same questions and
// messages again.
func (tx *Tx) TakeBackHandOver(taskID, runID string) {
	tx.markHandOverStale(taskID)
	tx.execAny("UPDATE questions SET handed_to = '' WHERE workspace_id = $1 AND task_id = $2 AND handed_to = $3",
		tx.workspace, taskID, runID)
	tx.execAny("UPDATE messages SET handed_to = '', handed_at = 0 WHERE workspace_id = $1 AND task_id = $2 AND handed_to = $3",
		tx.workspace, taskID, runID)
}

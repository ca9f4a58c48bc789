package store

import (
	"fmt"

	"github.com/fermata-hq/fermata"
)

func scanInt(rs rows) (int64, error) {
	var n int64
	err := rs.Scan(&n)
	return n, err
}

// ReadMark returns the number of the last event that a member has read, or 0 if
// there is none.
func (r Reader) ReadMark(member string) (int64, error) {
	marks, err := list(r, scanInt, "SELECT seq FROM read_marks WHERE workspace_id = $1 AND member_id = $2", r.workspace, member)
	if err != nil || len(marks) == 0 {
		return 0, err
	}
	return marks[0], nil
}

// SetReadMark stores the number of the last event that a member has read. The
// number never decreases.
func (tx *Tx) SetReadMark(member string, seq int64) {
	tx.exec(`INSERT INTO read_marks (workspace_id, member_id, seq) VALUES ($1, $2, $3) ON CONFLICT (workspace_id, member_id)
		DO UPDATE SET seq = CASE WHEN excluded.seq > read_marks.seq THEN excluded.seq ELSE read_marks.seq END`,
		tx.workspace, member, seq)
}

// ParticipatedTasks returns those of the tasks in which the actor answered or voted.
func (r Reader) ParticipatedTasks(taskIDs []string, by fermata.Actor) (map[string]bool, error) {
	took := map[string]bool{}
	if len(taskIDs) == 0 || by.ID == "" {
		return took, nil
	}
	found, err := list(r, scanString, "SELECT task_id FROM questions WHERE workspace_id = $1 AND "+
		fmt.Sprintf(r.d.inList, "task_id", 2)+` AND status <> 'pending'
		AND (resolution LIKE $3 ESCAPE '\' OR votes LIKE $3 ESCAPE '\')`,
		r.workspace, columnText(taskIDs), likeAnywhere(`"id":`+columnText(by.ID)))
	for _, id := range found {
		took[id] = true
	}
	return took, err
}

// recentQuestions is the number of latest questions among which past answers
// are searched.
const recentQuestions = 5000

// PastAnswers lists the answered questions of a type among the latest 5000
// questions of the workspace, newest first.
func (r Reader) PastAnswers(typ fermata.QuestionType, limit int) ([]*fermata.Question, error) {
	w := r.newWhereClause()
	w.addVisible(r.visible, "project")
	w.args = append(w.args, string(typ))
	return list(r, r.scanQuestion, "SELECT "+questionColumns+" FROM (SELECT "+questionColumns+" FROM questions WHERE "+w.sql()+
		fmt.Sprintf(` ORDER BY id DESC LIMIT %d) AS recent WHERE status = 'answered' AND type = $%d ORDER BY id DESC LIMIT %d`,
			recentQuestions, len(w.args), limit), w.args...)
}

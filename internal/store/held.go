package store

import (
	"github.com/fermata-hq/fermata"
)

// HoldAnswer saves the held answer of a pending question, and the instant of its
// release.
func (tx *Tx) HoldAnswer(q *fermata.Question) {
	tx.UpdatePending(q)
	tx.exec(`INSERT INTO held_answers (workspace_id, question_id, release_at) VALUES ($1, $2, $3)
		ON CONFLICT (workspace_id, question_id) DO UPDATE SET release_at = excluded.release_at`,
		tx.workspace, q.ID, q.HeldAnswer.ReleaseAt.UnixMilli())
}

// DeleteDueRelease deletes the release instant of a question's held answer if that
// instant has passed. The release instant of a later answer to the same
// question stays.
func (tx *Tx) DeleteDueRelease(questionID string) {
	tx.execAny("DELETE FROM held_answers WHERE workspace_id = $1 AND question_id = $2 AND release_at <= $3",
		tx.workspace, questionID, tx.Now().UnixMilli())
}

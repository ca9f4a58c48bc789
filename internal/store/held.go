package store

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
)

// Hold writes the answer that a pending question holds, and when it is to be
// released.
func (tx *Tx) Hold(q *fermata.Question) {
	tx.UpdatePending(q)
	tx.exec(`INSERT INTO held_answers (workspace_id, question_id, release_at) VALUES ($1, $2, $3)
		ON CONFLICT (workspace_id, question_id) DO UPDATE SET release_at = excluded.release_at`,
		tx.workspace, q.ID, q.Held.ReleaseAt.UnixMilli())
}

// ForgetHeld removes the note of when to release an answer, once that is past.
// A later answer to the same question keeps its own.
func (tx *Tx) ForgetHeld(questionID string) {
	tx.execAny("DELETE FROM held_answers WHERE workspace_id = $1 AND question_id = $2 AND release_at <= $3",
		tx.workspace, questionID, tx.Now().UnixMilli())
}

// DueHeld lists the questions whose held answer is to be released.
func (db *DB) DueHeld(ctx context.Context, now time.Time, limit int) ([]Due, error) {
	return list(db.In(ctx, ""), scanDue, `SELECT workspace_id, question_id FROM held_answers WHERE release_at <= $1
		ORDER BY release_at LIMIT $2`, now.UnixMilli(), limit)
}

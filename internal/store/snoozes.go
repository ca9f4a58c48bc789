package store

import "time"

// Snooze puts a question off for a member until an instant.
func (tx *Tx) Snooze(member, questionID string, until time.Time) {
	tx.exec(`INSERT INTO snoozes (workspace_id, member_id, question_id, until_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (workspace_id, member_id, question_id) DO UPDATE SET until_at = excluded.until_at`,
		tx.workspace, member, questionID, until.UnixMilli())
}

// EndSnooze ends the snooze of a question for a member.
func (tx *Tx) EndSnooze(member, questionID string) {
	tx.execAny("DELETE FROM snoozes WHERE workspace_id = $1 AND member_id = $2 AND question_id = $3", tx.workspace, member, questionID)
}

// DeleteSnoozes deletes the snoozes that ended before an instant, in every
// workspace.
func (tx *Tx) DeleteSnoozes(before time.Time) {
	tx.execAny("DELETE FROM snoozes WHERE until_at <= $1", before.UnixMilli())
}

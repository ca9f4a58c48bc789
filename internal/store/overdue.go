package store

import (
	"context"
	"time"
)

// DueRow names a row that is due.
type DueRow struct{ Workspace, ID string }

func scanDue(rs rows) (DueRow, error) {
	var d DueRow
	return d, rs.Scan(&d.Workspace, &d.ID)
}

// OverdueRows holds the ids of rows that wait to be settled, the longest overdue
// first.
type OverdueRows struct {
	// HeldAnswers are questions whose held answer is due for release.
	HeldAnswers []DueRow
	// Questions are pending questions past their deadline.
	Questions []DueRow
	// Runs are running runs past their lease.
	Runs []DueRow
	// Tasks are deferred or blocked tasks whose instant has passed.
	Tasks []DueRow
}

// OverdueRows returns the overdue rows of all workspaces, at most limit rows of
// each kind. Every server calls it several times a second. It takes one round
// trip, and costs almost nothing if nothing is due.
func (db *DB) OverdueRows(ctx context.Context, now time.Time, limit int) (*OverdueRows, error) {
	o := &OverdueRows{}
	due := func(found *[]DueRow, sql string) lookup { return scanInto(found, scanDue, sql, now.UnixMilli(), limit) }
	return o, db.backend.runLookups(ctx,
		due(&o.HeldAnswers, "SELECT workspace_id, question_id FROM held_answers WHERE release_at <= $1 ORDER BY release_at LIMIT $2"),
		due(&o.Questions, "SELECT workspace_id, id FROM questions WHERE status = 'pending' AND deadline <= $1 ORDER BY deadline LIMIT $2"),
		due(&o.Runs, "SELECT workspace_id, id FROM runs WHERE state = 'running' AND lease_until <= $1 ORDER BY lease_until LIMIT $2"),
		due(&o.Tasks, `SELECT workspace_id, id FROM tasks WHERE defer_until > 0 AND defer_until <= $1 AND state IN ('deferred', 'blocked')
			ORDER BY defer_until LIMIT $2`),
	)
}

package store

import (
	"context"
	"time"
)

// Due is a row whose time has come.
type Due struct{ Workspace, ID string }

func scanDue(rs rows) (Due, error) {
	var d Due
	return d, rs.Scan(&d.Workspace, &d.ID)
}

// Overdue holds the ids of rows that wait to be settled, the longest overdue
// first.
type Overdue struct {
	// Held are questions whose held answer is due for release.
	Held []Due
	// Questions are pending questions past their deadline.
	Questions []Due
	// Runs are running runs past their lease.
	Runs []Due
	// Tasks are deferred or blocked tasks whose instant has come.
	Tasks []Due
}

// Overdue returns what is overdue in all workspaces, at most limit rows of each
// kind. Every server calls it all the time. It takes one round trip, and costs
// next to nothing if nothing is due.
func (db *DB) Overdue(ctx context.Context, now time.Time, limit int) (*Overdue, error) {
	o := &Overdue{}
	due := func(found *[]Due, sql string) lookup { return scanInto(found, scanDue, sql, now.UnixMilli(), limit) }
	return o, db.backend.look(ctx,
		due(&o.Held, "SELECT workspace_id, question_id FROM held_answers WHERE release_at <= $1 ORDER BY release_at LIMIT $2"),
		due(&o.Questions, "SELECT workspace_id, id FROM questions WHERE status = 'pending' AND deadline <= $1 ORDER BY deadline LIMIT $2"),
		due(&o.Runs, "SELECT workspace_id, id FROM runs WHERE state = 'running' AND lease_until <= $1 ORDER BY lease_until LIMIT $2"),
		due(&o.Tasks, `SELECT workspace_id, id FROM tasks WHERE defer_until > 0 AND defer_until <= $1 AND state IN ('deferred', 'blocked')
			ORDER BY defer_until LIMIT $2`),
	)
}

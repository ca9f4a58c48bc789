package store

import (
	"github.com/fermata-hq/fermata"
)

// Policy returns the workspace's policy, or the default one if none was set.
func (r Reader) Policy() (fermata.Policy, error) {
	stored, err := scanOne(r, "workspace", r.workspace, scanString, "SELECT policy FROM workspaces WHERE id = $1", r.workspace)
	if err != nil {
		return fermata.Policy{}, err
	}
	p := fermata.DefaultPolicy()
	return p, parseColumn("policy", stored, &p)
}

// SetPolicy writes the workspace's policy.
func (tx *Tx) SetPolicy(p fermata.Policy) {
	tx.exec("UPDATE workspaces SET policy = $1 WHERE id = $2", columnText(p), tx.workspace)
}

// Workspaces lists the ids of all workspaces.
func (r Reader) Workspaces() ([]string, error) {
	return list(r, scanString, "SELECT id FROM workspaces ORDER BY id")
}

// Count is a number of rows by kind.
type Count struct {
	Kind string
	N    int64
	// Oldest is the earliest instant of creation, in milliseconds. Only
	// [Reader.CountPending] fills it in.
	Oldest int64
}

func scanCount(rs rows) (Count, error) {
	var c Count
	return c, rs.Scan(&c.Kind, &c.N, &c.Oldest)
}

// CountPending counts the pending questions of all workspaces by type.
func (r Reader) CountPending() ([]Count, error) {
	return list(r, scanCount, "SELECT type, count(*), min(created_at) FROM questions WHERE status = 'pending' GROUP BY type")
}

// Totals are the numbers of tasks, questions and messages of a workspace.
type Totals struct{ Tasks, Questions, Messages int64 }

// Totals counts the workspace's tasks, questions and messages.
func (r Reader) Totals() (Totals, error) {
	return scanOne(r, "workspace", r.workspace, scanTotals, `SELECT (SELECT count(*) FROM tasks WHERE workspace_id = $1),
		(SELECT count(*) FROM questions WHERE workspace_id = $1), (SELECT count(*) FROM messages WHERE workspace_id = $1)`, r.workspace)
}

func scanTotals(rs rows) (Totals, error) {
	var t Totals
	return t, rs.Scan(&t.Tasks, &t.Questions, &t.Messages)
}

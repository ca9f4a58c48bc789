package store

import "context"

// ProcessName returns the name of this process among those that share the database. Each open [DB] has its own name.
func (db *DB) ProcessName() string { return db.backend.processName() }

// IsPresent reports whether the other processes notice at once when this one ends; see [DB.GoneProcesses]. It is false
// for SQLite, and behind a pooler without [Options.DirectURL]. It is also false while this process has lost the connection that shows its
// presence.
func (db *DB) IsPresent() bool { return db.backend.isPresent() }

// PresenceSettled returns a channel that is closed once [DB.IsPresent] was true, or cannot become true.
func (db *DB) PresenceSettled() <-chan struct{} { return db.backend.presenceSettled() }

// GoneProcesses returns those of the names whose processes the database does not see. They include a process that
// lost its connection and has not connected again yet.
func (db *DB) GoneProcesses(ctx context.Context, names []string) ([]string, error) {
	return db.backend.goneProcesses(ctx, names)
}

// WorkersHoldingRuns returns the workers that hold runs of the runner, in all workspaces.
func (db *DB) WorkersHoldingRuns(ctx context.Context, runner string) ([]string, error) {
	return list(db.Reader(ctx, ""), scanString, "SELECT DISTINCT worker FROM runs WHERE state = 'running' AND runner = $1 ORDER BY worker", runner)
}

// EndLeasesOf ends the leases of a worker's runs of the runner. Call it only for a worker that is gone.
func (db *DB) EndLeasesOf(ctx context.Context, runner, worker string) error {
	return db.writeEach(ctx, func(tx *Tx) {
		tx.markStale(everyRow)
		tx.execAny(`UPDATE runs SET lease_until = $1 WHERE workspace_id = $2 AND state = 'running' AND runner = $3 AND worker = $4
			AND lease_until > $1`, tx.Now().UnixMilli(), tx.workspace, runner, worker)
	})
}

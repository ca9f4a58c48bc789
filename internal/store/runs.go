package store

import (
	"time"

	"github.com/fermata-hq/fermata"
)

const runColumns = `id, task_id, attempt, state, worker, runner, token, lease_until, lease_ms, claimed_from, result, summary, details,
	question_id, started_at, ended_at, handed`

func (r Reader) scanRun(rs rows) (*fermata.Run, error) {
	dest, build := r.runRow()
	return scan(rs, dest, build)
}

// runRow returns the destinations for the columns of a run, and a function that
// builds the run from them.
func (r Reader) runRow() (dest []any, build func() (*fermata.Run, error)) {
	run := &fermata.Run{WorkspaceID: r.workspace}
	var state, claimedFrom, result, details string
	var leaseUntil, lease, startedAt, endedAt int64
	dest = []any{
		&run.ID, &run.TaskID, &run.Attempt, &state, &run.Worker, &run.Runner, &run.Token, &leaseUntil,
		&lease, &claimedFrom, &result, &run.Summary, &details, &run.QuestionID, &startedAt, &endedAt, &run.HandedCount,
	}
	return dest, func() (*fermata.Run, error) {
		run.State, run.ClaimedFrom, run.Result = fermata.RunState(state), fermata.TaskState(claimedFrom), fermata.Result(result)
		run.Lease = time.Duration(lease) * time.Millisecond
		run.LeaseUntil, run.StartedAt, run.EndedAt, run.Details = instantOf(leaseUntil), instantOf(startedAt), optionalInstant(endedAt), rawJSON(details)
		return run, nil
	}
}

// Run returns the run with the id.
func (r Reader) Run(id string) (*fermata.Run, error) {
	return scanOne(r, "run", id, r.scanRun, runByIDSQL, r.workspace, id)
}

const runByIDSQL = "SELECT " + runColumns + " FROM runs WHERE workspace_id = $1 AND id = $2"

// Runs lists a task's runs, oldest first.
func (r Reader) Runs(taskID string) ([]*fermata.Run, error) {
	return list(r, r.scanRun, "SELECT "+runColumns+
		" FROM runs WHERE workspace_id = $1 AND task_id = $2 ORDER BY attempt", r.workspace, taskID)
}

// RunsByID returns the runs with the ids.
func (r Reader) RunsByID(ids []string) ([]*fermata.Run, error) {
	return listByID(r, r.scanRun, runColumns, "runs", ids, runID)
}

// InsertRun adds a run.
func (tx *Tx) InsertRun(run *fermata.Run) {
	tx.markStale(run.ID)
	run.WorkspaceID = tx.workspace
	tx.exec(`INSERT INTO runs (workspace_id, id, task_id, attempt, state, worker, runner, token, lease_until, lease_ms, claimed_from, started_at, handed)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		tx.workspace, run.ID, run.TaskID, run.Attempt, string(run.State), run.Worker, run.Runner, run.Token,
		run.LeaseUntil.UnixMilli(), run.Lease.Milliseconds(), string(run.ClaimedFrom), run.StartedAt.UnixMilli(), run.HandedCount)
}

// SaveRun writes a run that was running when it was read. The write fails if
// the run has ended meanwhile. Changes after the call are not written. The expression on state has the same reason as
// the one in [pendingCondition].
func (tx *Tx) SaveRun(run *fermata.Run) {
	tx.markStale(run.ID)
	tx.exec(`UPDATE runs SET state = $1, lease_until = $2, result = $3, summary = $4, details = $5, question_id = $6, ended_at = $7,
		lease_ms = $8, handed = $9 WHERE workspace_id = $10 AND id = $11 AND token = $12 AND state || '' = 'running'`,
		string(run.State), run.LeaseUntil.UnixMilli(), string(run.Result), run.Summary, columnText(run.Details), run.QuestionID,
		millis(run.EndedAt), run.Lease.Milliseconds(), run.HandedCount, tx.workspace, run.ID, run.Token)
}

// ReviveRun makes a lost run a running one again.
func (tx *Tx) ReviveRun(run *fermata.Run) {
	tx.markStale(run.ID)
	tx.exec("UPDATE runs SET state = 'running', ended_at = 0 WHERE workspace_id = $1 AND id = $2 AND token = $3 AND state = 'lost'",
		tx.workspace, run.ID, run.Token)
}

// LogSize returns the size of a run's log in bytes.
func (r Reader) LogSize(runID string) (int64, error) {
	return scanOne(r, "run", runID, func(rs rows) (int64, error) {
		var n int64
		return n, rs.Scan(&n)
	}, "SELECT log_size FROM runs WHERE workspace_id = $1 AND id = $2", r.workspace, runID)
}

// AppendLog adds output to a run's log. The offset must be the size of the log,
// otherwise the write fails.
func (tx *Tx) AppendLog(runID string, offset int64, output string) {
	tx.exec("INSERT INTO run_log (workspace_id, run_id, byte_offset, text, at) VALUES ($1, $2, $3, $4, $5)",
		tx.workspace, runID, offset, output, tx.Now().UnixMilli())
	tx.exec("UPDATE runs SET log_size = $1 WHERE workspace_id = $2 AND id = $3 AND log_size = $4",
		offset+int64(len(output)), tx.workspace, runID, offset)
}

// Log returns the pieces of a run's output that begin at the offset or later,
// at most limit pieces.
func (r Reader) Log(runID string, offset int64, limit int) ([]fermata.LogChunk, error) {
	return list(r, func(rs rows) (fermata.LogChunk, error) {
		var c fermata.LogChunk
		var ms int64
		err := rs.Scan(&c.Offset, &c.Text, &ms)
		c.At = instantOf(ms)
		return c, err
	}, `SELECT byte_offset, text, at FROM run_log WHERE workspace_id = $1 AND run_id = $2 AND byte_offset >= $3
		ORDER BY byte_offset LIMIT $4`, r.workspace, runID, offset, limit)
}

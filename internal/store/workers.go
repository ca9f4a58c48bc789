package store

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
)

// workerRetention is how long a worker stays in the list after its last claim.
const workerRetention = 7 * 24 * time.Hour

// maxWorkers is the largest number of workers in the list.
const maxWorkers = 1000

// workerOffer says which tasks a worker takes, in the form that the worker's row stores.
type workerOffer struct {
	Runners  []string           `json:"runners,omitempty"`
	Projects []string           `json:"projects,omitempty"`
	Agents   []string           `json:"agents,omitempty"`
	Isolates bool               `json:"isolates,omitempty"`
	Visible  fermata.ProjectSet `json:"visible"`
}

// SaveWorkers records that workers asked for a task.
func (tx *Tx) SaveWorkers(workers ...fermata.Worker) {
	for _, w := range workers {
		tx.saveWorker(w)
	}
}

// DeleteForgottenWorkers deletes the workers that have not asked for a task for a week, in every workspace.
func (tx *Tx) DeleteForgottenWorkers() {
	tx.execAny("DELETE FROM workers WHERE seen_at < $1", tx.Now().Add(-workerRetention).UnixMilli())
}

func (tx *Tx) saveWorker(w fermata.Worker) {
	id, offerText := workerID(w)
	tx.exec(`INSERT INTO workers (workspace_id, id, name, offer, seen_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (workspace_id, id) DO UPDATE SET seen_at = excluded.seen_at`,
		tx.workspace, id, w.Name, offerText, tx.Now().UnixMilli())
}

// TouchWorkers records that workers of the name called the server.
func (tx *Tx) TouchWorkers(name string) {
	tx.execAny("UPDATE workers SET seen_at = $1 WHERE workspace_id = $2 AND name = $3 AND seen_at < $1", tx.Now().UnixMilli(), tx.workspace, name)
}

// MarkWorkersLost makes workers of the name count as not running until they ask for a task, unless they called
// after the instant.
func (tx *Tx) MarkWorkersLost(name string, heard time.Time) {
	tx.execAny("UPDATE workers SET seen_at = $1 WHERE workspace_id = $2 AND name = $3 AND seen_at > $1 AND seen_at <= $4",
		tx.Now().Add(-fermata.WorkerSilence).UnixMilli(), tx.workspace, name, heard.UnixMilli())
}

// RemoveWorker removes a worker from the list.
func (tx *Tx) RemoveWorker(w fermata.Worker) {
	id, _ := workerID(w)
	tx.execAny("DELETE FROM workers WHERE workspace_id = $1 AND id = $2", tx.workspace, id)
}

// workerID returns the key of a worker's row, and the text of its offer for the row.
func workerID(w fermata.Worker) (id, offerText string) {
	offerText = columnText(workerOffer{w.Runners, w.Projects, w.Agents, w.Isolates, w.Visible})
	sum := sha256.Sum256([]byte(columnText([]string{w.Name, offerText})))
	const enough = 16
	return hex.EncodeToString(sum[:enough]), offerText
}

// holder is the name of a worker that holds a task, and the runner of the task.
type holder struct{ worker, runner string }

// Workers lists the workers that asked for a task in the last week, the most recent first, at most 1000. It marks
// those that are running at the instant now.
func (r Reader) Workers(now time.Time) ([]fermata.Worker, error) {
	var workers []fermata.Worker
	holds := map[holder]bool{}
	err := r.q.runLookups(r.ctx,
		scanInto(&workers, scanWorker, "SELECT name, offer, seen_at FROM workers WHERE workspace_id = $1 AND seen_at >= $2"+
			" ORDER BY seen_at DESC, id LIMIT $3", r.workspace, now.Add(-workerRetention).UnixMilli(), maxWorkers),
		lookup{
			sql:      "SELECT DISTINCT worker, runner FROM runs WHERE workspace_id = $1 AND state = 'running' AND lease_until > $2",
			args:     []any{r.workspace, now.UnixMilli()},
			scanRows: func(rs rows) error { return scanEach(rs, scanHolder, func(h holder) { holds[h] = true }) },
		})
	for i := range workers {
		w := &workers[i]
		busy := holds[holder{w.Name, ""}] ||
			slices.ContainsFunc(w.Runners, func(runner string) bool { return holds[holder{w.Name, runner}] })
		w.Running = busy || now.Sub(w.SeenAt) < fermata.WorkerSilence
	}
	return workers, err
}

func scanWorker(rs rows) (fermata.Worker, error) {
	var w fermata.Worker
	var offerText string
	var seenAt int64
	if err := rs.Scan(&w.Name, &offerText, &seenAt); err != nil {
		return w, err
	}
	var o workerOffer
	err := parseColumn("offer", offerText, &o)
	w.Runners, w.Projects, w.Agents, w.Isolates, w.Visible, w.SeenAt = o.Runners, o.Projects, o.Agents, o.Isolates, o.Visible, instantOf(seenAt)
	return w, err
}

func scanHolder(rs rows) (holder, error) {
	var h holder
	return h, rs.Scan(&h.worker, &h.runner)
}

// UnclaimedCount is the number of tasks of one kind that wait for a worker.
type UnclaimedCount struct {
	Kind  fermata.TaskKind
	Tasks int
	// First is the id of the oldest of the tasks.
	First string
}

// CountUnclaimed counts the tasks that wait for a worker, by kind.
func (r Reader) CountUnclaimed() ([]UnclaimedCount, error) {
	const of = "SELECT runner, project, agent, isolated, id FROM tasks WHERE workspace_id = $1 AND runner <> 'workflow' AND state = "
	return list(r, scanUnclaimed, "SELECT runner, project, agent, isolated, count(*), min(id) FROM ("+of+"'open' UNION ALL "+of+
		"'input_received') AS waiting GROUP BY runner, project, agent, isolated ORDER BY runner, project, agent, isolated", r.workspace)
}

func scanUnclaimed(rs rows) (UnclaimedCount, error) {
	var u UnclaimedCount
	var isolated int64
	err := rs.Scan(&u.Kind.Runner, &u.Kind.Project, &u.Kind.Agent, &isolated, &u.Tasks, &u.First)
	u.Kind.Isolated = isolated != 0
	return u, err
}

// WorkerGap is a kind of task that no running worker takes.
type WorkerGap struct {
	Kind  fermata.TaskKind
	Since time.Time
	// Alerted reports whether operators were told.
	Alerted bool
}

// WorkerGaps lists the recorded gaps.
func (r Reader) WorkerGaps() ([]WorkerGap, error) {
	return list(r, scanGap, "SELECT runner, project, agent, isolated, since, told_at FROM worker_gaps WHERE workspace_id = $1 ORDER BY runner, project, agent, isolated",
		r.workspace)
}

func scanGap(rs rows) (WorkerGap, error) {
	var g WorkerGap
	var isolated, since, told int64
	err := rs.Scan(&g.Kind.Runner, &g.Kind.Project, &g.Kind.Agent, &isolated, &since, &told)
	g.Kind.Isolated, g.Since, g.Alerted = isolated != 0, instantOf(since), told != 0
	return g, err
}

// OpenWorkerGap records that no running worker takes tasks of the kind, since this instant.
func (tx *Tx) OpenWorkerGap(k fermata.TaskKind) {
	tx.execAny(`INSERT INTO worker_gaps (workspace_id, runner, project, agent, isolated, since) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (workspace_id, runner, project, agent, isolated) DO NOTHING`,
		tx.workspace, k.Runner, k.Project, k.Agent, boolColumn(k.Isolated), tx.Now().UnixMilli())
}

// gapKindCondition is the condition that a gap is of the kind in the parameters $1 to $5.
const gapKindCondition = "workspace_id = $1 AND runner = $2 AND project = $3 AND agent = $4 AND isolated = $5"

// MarkWorkerGapAlerted records that operators were notified of a gap.
func (tx *Tx) MarkWorkerGapAlerted(k fermata.TaskKind) {
	tx.exec("UPDATE worker_gaps SET told_at = $6 WHERE "+gapKindCondition, tx.workspace, k.Runner, k.Project, k.Agent, boolColumn(k.Isolated), tx.Now().UnixMilli())
}

// CloseWorkerGap removes a gap: a worker takes tasks of the kind, or no such task waits.
func (tx *Tx) CloseWorkerGap(k fermata.TaskKind) {
	tx.execAny("DELETE FROM worker_gaps WHERE "+gapKindCondition, tx.workspace, k.Runner, k.Project, k.Agent, boolColumn(k.Isolated))
}

package store

import "time"

// Replay is the stored result of a call with an idempotency key.
type Replay struct {
	Fingerprint string
	Result      string
}

// Replay returns the result of an earlier call with the key, or false if there
// was none.
func (r Reader) Replay(caller, key string) (Replay, bool, error) {
	found, err := list(r, func(rs rows) (Replay, error) {
		var p Replay
		return p, rs.Scan(&p.Fingerprint, &p.Result)
	}, replaySQL, r.workspace, caller, key)
	if err != nil || len(found) == 0 {
		return Replay{}, false, err
	}
	return found[0], true, nil
}

const replaySQL = "SELECT fingerprint, result FROM idempotency WHERE workspace_id = $1 AND caller = $2 AND key = $3"

// SaveReplay stores the result of a call with an idempotency key.
func (tx *Tx) SaveReplay(caller, key string, p Replay) {
	tx.exec(`INSERT INTO idempotency (workspace_id, caller, key, fingerprint, result, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		tx.workspace, caller, key, p.Fingerprint, p.Result, tx.Now().UnixMilli())
}

// DeleteReplays deletes the results that were stored before the instant, in every
// workspace.
func (tx *Tx) DeleteReplays(before time.Time) {
	tx.execAny("DELETE FROM idempotency WHERE created_at < $1", before.UnixMilli())
}

package store

import (
	"slices"

	"github.com/fermata-hq/fermata"
)

func scanTrimmedRange(rs rows) (fermata.SignedTrimmedRange, error) {
	var stored string
	var signed fermata.SignedTrimmedRange
	if err := rs.Scan(&stored); err != nil {
		return signed, err
	}
	return signed, parseColumn("signed_range", stored, &signed)
}

// TrimmedRanges lists the trimmed ranges that end after an event, in the order of the chain.
func (r Reader) TrimmedRanges(after int64, limit int) ([]fermata.SignedTrimmedRange, error) {
	return list(r, scanTrimmedRange, "SELECT signed_range FROM trimmed_ranges WHERE workspace_id = $1 AND last_seq > $2 ORDER BY first_seq LIMIT $3", r.workspace, after, limit)
}

// TrimmedRangeOf returns the trimmed range that contains the number of an event, or false if there is none.
func (r Reader) TrimmedRangeOf(seq int64) (fermata.SignedTrimmedRange, bool, error) {
	return first(list(r, scanTrimmedRange, `SELECT signed_range FROM (SELECT signed_range, last_seq FROM trimmed_ranges
		WHERE workspace_id = $1 AND first_seq <= $2 ORDER BY first_seq DESC LIMIT 1) AS found WHERE last_seq >= $2`, r.workspace, seq))
}

// LastTrimmedRange returns the last trimmed range, or false if nothing was removed from the chain.
func (r Reader) LastTrimmedRange() (fermata.SignedTrimmedRange, bool, error) {
	return first(list(r, scanTrimmedRange, "SELECT signed_range FROM trimmed_ranges WHERE workspace_id = $1 ORDER BY first_seq DESC LIMIT 1", r.workspace))
}

// first returns the first value of a list, or false if the list is empty.
func first[T any](found []T, err error) (T, bool, error) {
	if err != nil || len(found) == 0 {
		var zero T
		return zero, false, err
	}
	return found[0], true, nil
}

// RemovedEvents returns the number of events that were removed from the chain.
func (r Reader) RemovedEvents() (int64, error) {
	return scanOne(r, "workspace", r.workspace, scanInt, "SELECT CAST(COALESCE(sum(removed), 0) AS BIGINT) FROM trimmed_ranges WHERE workspace_id = $1", r.workspace)
}

// isTrimmed reports whether the number of an event is in a trimmed range.
func (r Reader) isTrimmed(seq int64) (bool, error) {
	tables, err := list(r, scanInt, r.d.tableCount, "trimmed_ranges")
	if err != nil || tables[0] == 0 {
		return false, err
	}
	_, ok, err := r.TrimmedRangeOf(seq)
	return ok, err
}

// SaveTrimmedRange writes a trimmed range. It replaces the one that begins with the same event.
func (tx *Tx) SaveTrimmedRange(s fermata.SignedTrimmedRange) {
	tx.exec(`INSERT INTO trimmed_ranges (workspace_id, first_seq, last_seq, removed, signed_range) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (workspace_id, first_seq) DO UPDATE SET last_seq = excluded.last_seq, removed = excluded.removed, signed_range = excluded.signed_range`,
		tx.workspace, s.First, s.Last, s.Removed(), columnText(s))
}

// DeleteEvents deletes the events with the numbers, which must be in order.
func (tx *Tx) DeleteEvents(seqs []int64) {
	for i := 0; i < len(seqs); {
		end := i + 1
		for end < len(seqs) && seqs[end] == seqs[end-1]+1 {
			end++
		}
		tx.execAny("DELETE FROM events WHERE workspace_id = $1 AND seq BETWEEN $2 AND $3", tx.workspace, seqs[i], seqs[end-1])
		i = end
	}
}

// HasEventsAbout reports whether this caller, or an earlier caller of the same transaction, has appended an event about one
// of the tasks.
func (tx *Tx) HasEventsAbout(taskIDs []string) bool {
	return slices.ContainsFunc(slices.Concat(tx.g.events, tx.events), func(e *fermata.Event) bool { return slices.Contains(taskIDs, e.TaskID) })
}

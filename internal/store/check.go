package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/private"
)

// Loss is the difference between the events that were acknowledged and the database, which misses some of them.
type Loss struct {
	// Acknowledged is the head that was kept outside the database.
	Acknowledged Head `json:"acknowledged"`
	// Found is the end of the chain in the database.
	Found Head `json:"found"`
	// Rewritten reports whether the database has that event with other contents.
	Rewritten bool `json:"rewritten,omitempty"`
}

// String returns a sentence that describes the loss.
func (l Loss) String() string {
	if l.Rewritten {
		return fmt.Sprintf("the database has another history than was acknowledged: event %d of workspace %s is not the one that was acknowledged by %s",
			l.Acknowledged.Seq, l.Acknowledged.Workspace, l.Acknowledged.At.Format(time.RFC3339))
	}
	return describeLoss(l.Acknowledged, l.Found.Seq) + " by " + l.Acknowledged.At.Format(time.RFC3339)
}

func describeLoss(acknowledged Head, found int64) string {
	return fmt.Sprintf("the database is behind what was acknowledged: workspace %s ends at event %d, and event %d was acknowledged",
		acknowledged.Workspace, found, acknowledged.Seq)
}

const hintLoss = "if the end of the database was lost (a cut write-ahead log, a lost disk, a standby that was behind), look for the newest copy; " +
	"if you restored a backup on purpose, or nothing better is left, run fermata accept-loss: it records what is missing, and the server starts again"

// lossTrouble returns the trouble of a database that lost what was acknowledged while this process used it.
func lossTrouble(reason string) *Trouble {
	return &Trouble{Reason: reason, Hint: "Fermata writes nothing until it is started again; " + hintLoss, Stopped: true}
}

// Check returns an error if the database is damaged or lacks events that were acknowledged. A server calls it before
// [DB.Migrate], so that nothing is written into such a database.
func (db *DB) Check(ctx context.Context) error {
	if err := db.checkIntegrity(ctx); err != nil {
		return err
	}
	losses, err := db.Losses(ctx)
	if err != nil {
		return err
	}
	if len(losses) > 0 {
		return fermata.Errorf(fermata.CodeUnavailable, "%s", losses[0]).WithHint(hintLoss)
	}
	return nil
}

// checkIntegrity opens the heads. It also checks the whole file of SQLite, unless the file is unchanged since it was
// closed cleanly.
func (db *DB) checkIntegrity(ctx context.Context) error {
	if err := db.openHeads(); err != nil {
		return err
	}
	b, isSQLite := db.backend.(*sqliteBackend)
	if !isSQLite || db.heads == nil {
		return nil
	}
	state := db.heads.closeState
	if !state.Closed || state != closeStateOf(b.files.path) {
		if err := b.quickCheck(ctx); err != nil {
			return err
		}
	}
	return db.heads.setCloseState(closeState{})
}

// openHeads opens the head file. On PostgreSQL there is one only if [Options] name it.
func (db *DB) openHeads() (err error) {
	path := db.opts.HeadFile
	if path == "" {
		b, isSQLite := db.backend.(*sqliteBackend)
		if !isSQLite {
			return nil
		}
		path = b.files.path + ".head"
	}
	if err := private.Restrict(path, db.opts.Log); err != nil {
		return headError(err)
	}
	db.heads, err = openHeadFile(path)
	return err
}

// closeHeads closes the head file. If a SQLite database is whole, it first records there that the database was closed
// cleanly.
func (db *DB) closeHeads(whole bool) error {
	if db.heads == nil {
		return nil
	}
	var state closeState
	if b, isSQLite := db.backend.(*sqliteBackend); isSQLite && whole {
		state = closeStateOf(b.files.path)
	}
	return db.heads.close(state)
}

// quickCheck reads the whole database and returns an error if it is malformed.
func (b *sqliteBackend) quickCheck(ctx context.Context) error {
	defer b.writer.interruptWhenDone(ctx)()
	var found string
	if err := b.writer.queryRow("PRAGMA quick_check(1)", &found); err != nil {
		return sqliteError(err)
	}
	if found != "ok" {
		return unavailable("check", malformedTrouble("the database "+filepath.Base(b.files.path)+" is malformed: "+strings.ReplaceAll(found, "\n", " "), nil))
	}
	return nil
}

// Losses compares the database with the heads that were kept outside it. It returns a loss for each workspace whose
// acknowledged head is missing or differs.
func (db *DB) Losses(ctx context.Context) ([]Loss, error) {
	if db.heads == nil {
		return nil, nil
	}
	var losses []Loss
	for _, kept := range db.heads.last {
		loss, err := db.findLoss(ctx, kept)
		if err != nil {
			return nil, err
		}
		if loss != nil {
			losses = append(losses, *loss)
		}
	}
	return losses, nil
}

// findLoss compares one workspace with its head.
func (db *DB) findLoss(ctx context.Context, kept Head) (*Loss, error) {
	r := db.Reader(ctx, kept.Workspace)
	found, err := r.headOrNone()
	if err != nil {
		return nil, err
	}
	hash := found.Hash
	if kept.Seq < found.Seq {
		if hash, err = r.hashBefore(kept.Seq + 1); err != nil {
			return nil, err
		}
		if hash == "" {
			// Retention removes only events that no process needs any more. So these were not lost.
			if trimmed, err := r.isTrimmed(kept.Seq); trimmed || err != nil {
				return nil, err
			}
		}
	}
	if kept.Seq <= found.Seq && hash == kept.Hash {
		return nil, nil
	}
	return &Loss{
		Acknowledged: kept, Found: Head{Workspace: kept.Workspace, Seq: found.Seq, Hash: found.Hash}, Rewritten: kept.Seq <= found.Seq,
	}, nil
}

// headOrNone returns the head of the workspace, or the zero head if the workspace does not exist.
func (r Reader) headOrNone() (fermata.Chain, error) {
	tables, err := list(r, func(rs rows) (n int, err error) { return n, rs.Scan(&n) }, r.d.tableCount, "workspaces")
	if err != nil || tables[0] == 0 {
		return fermata.Chain{}, err
	}
	head, err := r.Head()
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return fermata.Chain{}, nil
	}
	return head, err
}

// hashBefore returns the hash of the event before the event with the number, or "" if there is none.
func (r Reader) hashBefore(seq int64) (string, error) {
	found, err := list(r, func(rs rows) (string, error) {
		var hash []byte
		err := rs.Scan(&hash)
		return hashText(hash), err
	}, "SELECT prev_hash FROM events WHERE workspace_id = $1 AND seq = $2", r.workspace, seq)
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0], nil
}

// AcceptLoss records in the chain that events are missing, and accepts the database as it is. The database must be
// migrated. record creates the event that names the loss, with the operator as its actor.
func (db *DB) AcceptLoss(ctx context.Context, losses []Loss, record func(Loss) *fermata.Event) error {
	if db.heads == nil || len(losses) == 0 {
		return errors.New("there is no loss to accept")
	}
	kept := db.heads
	db.heads = nil
	defer func() { db.heads = kept }()
	for _, loss := range losses {
		if err := db.acceptOne(ctx, loss, record); err != nil {
			return err
		}
	}
	return kept.rewrite(func(last map[string]Head) {
		for _, loss := range losses {
			if end, ok := db.committedHeads.Load(loss.Acknowledged.Workspace); ok {
				last[loss.Acknowledged.Workspace] = end.(committedHead).Head
			} else {
				delete(last, loss.Acknowledged.Workspace)
			}
		}
	})
}

// acceptOne records one loss. If the workspace does not exist, there is no chain to record the loss in.
func (db *DB) acceptOne(ctx context.Context, loss Loss, record func(Loss) *fermata.Event) error {
	err := db.Write(ctx, loss.Acknowledged.Workspace, func(tx *Tx) error {
		tx.Append(record(loss))
		return nil
	})
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return nil
	}
	return err
}

// rewrite changes the heads and writes them to a new file.
func (h *heads) rewrite(change func(last map[string]Head)) error {
	h.syncing.Lock()
	defer h.syncing.Unlock()
	h.mu.Lock()
	change(h.last)
	h.mu.Unlock()
	return h.replaceFile(nil)
}

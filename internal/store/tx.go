package store

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/fermata-hq/fermata"
)

// group is one transaction that several writes share.
type group struct {
	db        *DB
	sess      session
	workspace string
	head      counter
	now       time.Time
	// queue holds the statements that were not sent yet.
	queue  []statement
	events []*fermata.Event
	ahead  ahead
	// broken is set when the database refused a statement.
	broken error
}

// Tx is one caller's part of a transaction. It reads like a [Reader], and sees
// what it and the callers before it wrote.
type Tx struct {
	Reader
	g   *group
	own []statement
	// saves are tasks whose rows are written once, however often they change.
	saves   []*fermata.Task
	events  []*fermata.Event
	touched map[string]bool
	// sent reports whether some of its statements reached the database.
	sent bool
}

func (g *group) begin(ctx context.Context) *Tx {
	tx := &Tx{g: g}
	tx.Reader = Reader{ctx: ctx, q: tx, d: g.db.backend.dialect(), workspace: g.workspace}
	return tx
}

// Now is the instant of the transaction, by the database's clock.
func (tx *Tx) Now() time.Time { return tx.g.now }

// Append adds an event. It is numbered and sealed when the transaction ends.
func (tx *Tx) Append(e *fermata.Event) {
	e.WorkspaceID, e.At = tx.g.workspace, tx.g.now
	tx.events = append(tx.events, e)
}

// Appended returns how many events the caller has added.
func (tx *Tx) Appended() int { return len(tx.events) }

// exec queues a statement that must change exactly one row.
func (tx *Tx) exec(sql string, args ...any) {
	tx.own = append(tx.own, statement{sql: sql, args: args, one: true})
}

// execAny queues a statement that may change any number of rows.
func (tx *Tx) execAny(sql string, args ...any) {
	tx.own = append(tx.own, statement{sql: sql, args: args})
}

// settleSaves turns the saved tasks into statements.
func (tx *Tx) settleSaves() {
	for _, t := range tx.saves {
		tx.updateTask(t)
	}
	tx.saves = tx.saves[:0]
}

// look sends what is queued and then the look-ups.
func (tx *Tx) look(ctx context.Context, lookups ...lookup) error {
	tx.settleSaves()
	if len(tx.own) > 0 {
		tx.g.queue = append(tx.g.queue, tx.own...)
		tx.own, tx.sent = nil, true
	}
	err := tx.g.sess.run(ctx, tx.g.queue, lookups)
	tx.g.queue = tx.g.queue[:0]
	if err != nil {
		tx.g.broken = err
	}
	return err
}

// keep makes the caller's writes part of the transaction.
func (tx *Tx) keep() {
	tx.settleSaves()
	tx.g.queue = append(tx.g.queue, tx.own...)
	tx.g.events = append(tx.g.events, tx.events...)
	maps.Copy(tx.g.ahead.touched, tx.touched)
}

const insertEvent = `INSERT INTO events (workspace_id, seq, type, task_id, question_id, run_id,
	actor_kind, actor_id, actor_name, at, data, prev_hash)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`

// commit numbers the events, writes what is left and commits.
func (g *group) commit(ctx context.Context) error {
	seq, hash := g.head.seq, g.head.hash
	for _, e := range g.events {
		seq++
		e.Seal(seq, hash)
		hash = e.Hash
		g.queue = append(g.queue, statement{sql: insertEvent, one: true, args: []any{
			e.WorkspaceID, e.Seq, string(e.Type), e.TaskID, e.QuestionID, e.RunID,
			string(e.Actor.Kind), e.Actor.ID, e.Actor.Name, e.At.UnixMilli(), string(e.Data), e.PrevHash,
		}})
	}
	if len(g.events) > 0 {
		g.queue = append(g.queue, statement{
			sql:  "UPDATE workspaces SET event_seq = $1, event_hash = $2 WHERE id = $3 AND event_seq = $4",
			args: []any{seq, hash, g.workspace, g.head.seq}, one: true,
		})
	}
	if err := g.sess.commit(ctx, g.queue); err != nil {
		return err
	}
	if len(g.events) > 0 && g.db.onCommit != nil {
		g.db.onCommit(g.workspace, g.events)
	}
	return nil
}

// unavailable wraps a failure of the database.
func unavailable(act string, err error) error {
	e := fermata.Errorf(fermata.CodeUnavailable, "the database is not available")
	e.RetryAfter = time.Second
	return fmt.Errorf("%w (%s: %w)", e, act, err)
}

package store

import (
	"context"
	"fmt"
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
	saves  []*fermata.Task
	events []*fermata.Event
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

// exec queues a statement that must change exactly one row.
func (tx *Tx) exec(sql string, args ...any) {
	tx.own = append(tx.own, statement{sql: sql, args: args, want: 1})
}

// execAny queues a statement that may change any number of rows.
func (tx *Tx) execAny(sql string, args ...any) {
	tx.own = append(tx.own, statement{sql: sql, args: args, want: -1})
}

// settleSaves turns the saved tasks into statements.
func (tx *Tx) settleSaves() {
	for _, t := range tx.saves {
		tx.updateTask(t)
	}
	tx.saves = tx.saves[:0]
}

// query sends what is queued and then the query.
func (tx *Tx) query(ctx context.Context, sql string, args []any) (rows, error) {
	tx.settleSaves()
	if len(tx.own) > 0 {
		tx.g.queue = append(tx.g.queue, tx.own...)
		tx.own, tx.sent = nil, true
	}
	r, err := tx.g.sess.run(ctx, tx.g.queue, sql, args)
	tx.g.queue = tx.g.queue[:0]
	if err != nil {
		tx.g.broken = err
		return nil, err
	}
	return groupRows{r, tx.g}, nil
}

// groupRows tell the group of an error that shows only while they are read.
type groupRows struct {
	rows
	g *group
}

func (r groupRows) Err() error {
	err := r.rows.Err()
	if err != nil && r.g.broken == nil {
		r.g.broken = err
	}
	return err
}

// keep makes the caller's writes part of the transaction.
func (tx *Tx) keep() {
	tx.settleSaves()
	tx.g.queue = append(tx.g.queue, tx.own...)
	tx.g.events = append(tx.g.events, tx.events...)
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
		g.queue = append(g.queue, statement{sql: insertEvent, want: 1, args: []any{
			e.WorkspaceID, e.Seq, string(e.Type), e.TaskID, e.QuestionID, e.RunID,
			string(e.Actor.Kind), e.Actor.ID, e.Actor.Name, e.At.UnixMilli(), string(e.Data), e.PrevHash,
		}})
	}
	if len(g.events) > 0 {
		g.queue = append(g.queue, statement{
			sql:  "UPDATE workspaces SET event_seq = $1, event_hash = $2 WHERE id = $3 AND event_seq = $4",
			args: []any{seq, hash, g.workspace, g.head.seq}, want: 1,
		})
	}
	if len(g.queue) > 0 {
		if _, err := g.sess.run(ctx, g.queue, "", nil); err != nil {
			g.sess.rollback()
			return fmt.Errorf("%w: %w", errBroken, err)
		}
	}
	if err := g.sess.commit(ctx); err != nil {
		g.sess.rollback()
		return unavailable("commit", err)
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

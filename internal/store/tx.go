package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
)

// group is one transaction that several writes share.
type group struct {
	db *DB
	// callers is the number of writes.
	callers   int
	sess      session
	workspace string
	head      counter
	now       time.Time
	// queue holds the statements that were not sent yet.
	queue     []statement
	events    []*fermata.Event
	readAhead readAhead
	// dbErr is the error with which the database refused a statement, or nil.
	dbErr error
}

// Tx is one caller's part of a transaction. It reads like a [Reader], and sees the writes of this caller and of the
// callers before it. It does not see their events; see [Tx.HasAppended].
//
// The methods that write build their statement at once, with the values of that moment; only [Tx.InsertTask] and
// [Tx.SaveTask] build it later. The statements are sent before the caller's next look-up, or with the end of the transaction.
type Tx struct {
	Reader
	g          *group
	statements []statement
	// insertedTasks and savedTasks are the added and the saved tasks. The row of each is written once, however often the task
	// changes.
	insertedTasks []insertedTask
	savedTasks    []*fermata.Task
	// tasks are the tasks that were added or saved, by id.
	tasks  map[string]*fermata.Task
	events []*fermata.Event
	// lastEvent is the event that was added last, until [Tx.TakeLastEvent] returns it.
	lastEvent *fermata.Event
	// stale and staleHandOvers are as in [readAhead], for this caller.
	stale          map[string]bool
	staleHandOvers map[string]bool
	// closed are the questions that this caller has closed.
	closed []*fermata.Question
	// statementErr is why a statement could not be built. The write fails with this error.
	statementErr error
	// sent reports whether some statements of this caller reached the database.
	sent bool
}

func (g *group) newTx(ctx context.Context) *Tx {
	tx := &Tx{g: g}
	tx.Reader = Reader{ctx: ctx, q: tx, d: g.db.backend.dialect(), ring: g.db.opts.Keys, workspace: g.workspace}
	return tx
}

// Now returns the instant of the transaction, by the database's clock.
func (tx *Tx) Now() time.Time { return tx.g.now }

// Append adds an event. The event gets its number and its hash when the transaction ends.
func (tx *Tx) Append(e *fermata.Event) {
	e.WorkspaceID, e.At = tx.g.workspace, tx.g.now
	tx.events = append(tx.events, e)
	tx.lastEvent = e
}

// HasAppended reports whether this caller, or an earlier caller of the same transaction, has appended an event of the
// type. Events are numbered at the end of the transaction, and no look-up finds them before.
func (tx *Tx) HasAppended(kind fermata.EventType) bool {
	is := func(e *fermata.Event) bool { return e.Type == kind }
	return slices.ContainsFunc(tx.events, is) || slices.ContainsFunc(tx.g.events, is)
}

// TakeLastEvent returns the event that the caller added last if it is about the task, reports no move and was not returned
// before. Otherwise it returns nil. The caller may add a move to the event.
func (tx *Tx) TakeLastEvent(taskID string) *fermata.Event {
	e := tx.lastEvent
	if e == nil || e.TaskID != taskID || e.Move != nil {
		return nil
	}
	tx.lastEvent = nil
	return e
}

// Appended returns the events that the caller has added. The caller must not change the list.
func (tx *Tx) Appended() []*fermata.Event { return tx.events }

// WrittenTask returns the task with the id as the caller has added or saved it last, or nil if it has not.
func (tx *Tx) WrittenTask(id string) *fermata.Task { return tx.tasks[id] }

// noteTask records a task that was added or saved.
func (tx *Tx) noteTask(t *fermata.Task) {
	if tx.tasks == nil {
		tx.tasks = map[string]*fermata.Task{}
	}
	tx.tasks[t.ID] = t
}

// crowd is the number of callers from which a transaction is crowded.
const crowd = 5

// IsCrowded reports whether many callers share the transaction, and each look-up costs a round trip for which all of them
// wait. Then a look-up that another transaction can make should be left to it.
func (tx *Tx) IsCrowded() bool { return tx.d.hasRoundTrips && tx.g.callers >= crowd }

// DatabaseError returns the error with which the database refused a statement of this transaction, or nil. After such
// an error, nothing of the transaction is written.
func (tx *Tx) DatabaseError() error { return tx.g.dbErr }

// AppendedCount returns the number of events that the caller has added.
func (tx *Tx) AppendedCount() int { return len(tx.events) }

// exec queues a statement that must change exactly one row.
func (tx *Tx) exec(sql string, args ...any) {
	tx.statements = append(tx.statements, statement{sql: sql, args: args, one: true})
}

// execAny queues a statement that may change any number of rows.
func (tx *Tx) execAny(sql string, args ...any) {
	tx.statements = append(tx.statements, statement{sql: sql, args: args})
}

// queueSaves turns the added and the saved tasks into statements.
func (tx *Tx) queueSaves() {
	for _, added := range tx.insertedTasks {
		tx.statements[added.at] = insertTaskStatement(added.task)
	}
	tx.insertedTasks = tx.insertedTasks[:0]
	for _, t := range tx.savedTasks {
		tx.updateTask(t)
	}
	tx.savedTasks = tx.savedTasks[:0]
}

// runLookups sends the queued statements and then the look-ups.
func (tx *Tx) runLookups(ctx context.Context, lookups ...lookup) error {
	tx.queueSaves()
	if len(tx.statements) > 0 {
		tx.g.queue = append(tx.g.queue, tx.statements...)
		tx.statements, tx.sent = nil, true
	}
	err := tx.g.sess.run(ctx, tx.g.queue, lookups)
	tx.g.queue = tx.g.queue[:0]
	if err != nil {
		tx.g.dbErr = err
	}
	return err
}

// joinGroup adds the caller's statements and events to the transaction.
func (tx *Tx) joinGroup() {
	tx.queueSaves()
	tx.g.queue = append(tx.g.queue, tx.statements...)
	tx.g.events = append(tx.g.events, tx.events...)
	maps.Copy(tx.g.readAhead.stale, tx.stale)
	maps.Copy(tx.g.readAhead.staleHandOvers, tx.staleHandOvers)
	for _, q := range tx.closed {
		if h := tx.g.readAhead.handOvers[q.TaskID]; h != nil {
			h.addClosed(q)
		}
	}
}

// commit numbers the events, sends the remaining statements and commits.
func (g *group) commit(ctx context.Context) error {
	if len(g.events) > 0 {
		last := g.head.Chain
		for _, e := range g.events {
			e.Link(last.Seq+1, last.Hash)
			last = fermata.Chain{Seq: e.Seq, Hash: e.Hash}
		}
		g.queue = append(g.queue, g.db.backend.dialect().insertEvents(g.events)...)
		g.queue = append(g.queue, statement{
			sql:  "UPDATE workspaces SET event_seq = $1, event_hash = $2 WHERE id = $3 AND event_seq = $4",
			args: []any{last.Seq, hashBytes(last.Hash), g.workspace, g.head.Seq}, one: true,
		})
	}
	if err := g.sess.commit(ctx, g.queue); err != nil {
		return err
	}
	g.db.noteTransaction(g.workspace, g.head.transaction)
	if len(g.events) > 0 {
		last := g.events[len(g.events)-1]
		g.db.noteHead(g.workspace, fermata.Chain{Seq: last.Seq, Hash: last.Hash}, g.head.server)
	}
	if len(g.events) > 0 && g.db.onCommit != nil {
		g.db.onCommit(g.workspace, g.events)
	}
	return nil
}

// unavailable wraps a failure of the database. If the failure is a [Trouble], the error shows its reason and its hint
// to the caller.
func unavailable(act string, err error) error {
	e := fermata.Errorf(fermata.CodeUnavailable, "the database is not available")
	e.RetryAfter = time.Second
	if t := troubleOf(err); t != nil {
		e.Message, e.Hint = t.Reason, t.Hint
	}
	return fmt.Errorf("%w (%s: %w)", e, act, err)
}

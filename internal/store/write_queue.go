package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/fermata-hq/fermata"
)

// maxGroup is the largest number of writes that share one transaction. Groups form by themselves: all writes that
// wait when a commit ends share the next one.
const maxGroup = 256

// Write runs fn in a transaction, and returns when the commit is durable. No other transaction writes into the
// workspace meanwhile.
//
// Callers that wait at the same time share one transaction and one fsync. The function may run more than once, and must
// have no effect outside the process. It must read and write only through tx. Its writes are sent later, with the next
// read or at the end. If it returns an error, none of its writes stays.
//
// After an error with [fermata.CodeUnavailable], it is unknown whether the commit happened. The caller should try
// again with the same idempotency key.
func (db *DB) Write(ctx context.Context, workspace string, fn func(tx *Tx) error, readAheads ...ReadAhead) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &call{ctx: ctx, fn: fn, readAheads: readAheads, done: make(chan error, 1)}
	if err := db.enqueue(workspace, c); err != nil {
		return err
	}
	// The caller waits for the result even if ctx ends meanwhile. Only the result shows whether the write was
	// committed.
	return <-c.done
}

// call is one Write that waits for its group.
type call struct {
	ctx context.Context
	fn  func(tx *Tx) error
	// readAheads names the rows that fn will read.
	readAheads []ReadAhead
	done       chan error
}

// writeQueue holds the writes that wait for one workspace, or for the one writer of SQLite.
type writeQueue struct {
	mu      sync.Mutex
	queue   []*call
	running bool
}

func (db *DB) enqueue(workspace string, c *call) error {
	db.mu.Lock()
	if db.closed {
		db.mu.Unlock()
		return fermata.Errorf(fermata.CodeUnavailable, "the database is closed")
	}
	l := db.queues[workspace]
	if l == nil {
		l = &writeQueue{}
		db.queues[workspace] = l
	}
	db.work.Add(1)
	db.mu.Unlock()

	l.mu.Lock()
	l.queue = append(l.queue, c)
	start := !l.running
	l.running = true
	l.mu.Unlock()
	if start {
		go db.drain(workspace, l)
	}
	return nil
}

// drain commits groups until no write waits.
func (db *DB) drain(workspace string, q *writeQueue) {
	for {
		q.mu.Lock()
		n := min(len(q.queue), maxGroup)
		if n == 0 {
			q.running = false
			q.queue = nil
			q.mu.Unlock()
			return
		}
		group := q.queue[:n:n]
		q.queue = q.queue[n:]
		q.mu.Unlock()
		db.commitGroup(workspace, group)
		for range group {
			db.work.Done()
		}
	}
}

// commitGroup gives every call of the group its result.
func (db *DB) commitGroup(workspace string, calls []*call) {
	if len(calls) == 0 {
		return
	}
	if err := db.stoppedError(); err != nil {
		sendResult(calls, err)
		return
	}
	for _, again := range db.tryGroup(workspace, calls) {
		db.commitGroup(workspace, again)
	}
}

// errBroken marks a failure before the commit was sent: nothing was written.
var errBroken = errors.New("transaction rolled back")

// IsRolledBack reports whether an error of [DB.Write] means that the database refused the write, and that nothing of it was
// written.
func IsRolledBack(err error) bool {
	return errors.Is(err, errBroken) && fermata.CodeOf(err) != fermata.CodeUnavailable
}

// failedCall is a call that failed, and its error.
type failedCall struct {
	*call
	err error
}

// tryGroup runs the calls in one transaction. It returns the groups that must run again. This happens if a failed call
// left statements in the transaction. It also happens if the database broke the transaction before its commit, so
// that a call that cannot be written fails alone.
//
// If a call fails after earlier calls of the group have written, its error may depend on their writes. So it gets its
// error only after the commit. If the commit fails, the call is treated like the others: it runs again, or gets the
// error of the commit.
func (db *DB) tryGroup(workspace string, calls []*call) (retries [][]*call) {
	ctx := context.Background()
	rowsAhead := readAhead{stale: map[string]bool{}, staleHandOvers: map[string]bool{}}
	sess, head, err := db.backend.begin(ctx, workspace, rowsAhead.lookups(db.Reader(ctx, workspace), calls))
	if err == nil {
		if err = db.checkHead(ctx, workspace, head); err != nil {
			sess.rollback()
		}
	}
	if err != nil {
		_ = db.noteFailure(err)
		// The rows that one call reads ahead may be the cause, and the other calls must not fail because of it.
		return runAlone(calls, fmt.Errorf("%w: %w", errBroken, err))
	}
	g := &group{
		callers: len(calls),
		db:      db, sess: sess, workspace: workspace, head: head, readAhead: rowsAhead,
		now: db.timeAt(head.now),
	}
	var written, unanswered []*call
	var failed []failedCall
	for i, c := range calls {
		tx := g.newTx(ctx)
		fnErr := runRecovered(c.fn, tx)
		switch {
		case g.dbErr != nil:
			_ = db.noteFailure(g.dbErr)
			sess.rollback()
			return runAlone(slices.Concat(unanswered, calls[i:]), fmt.Errorf("%w: %w", errBroken, g.dbErr))
		case fnErr == nil:
			tx.joinGroup()
			written = append(written, c)
			unanswered = append(unanswered, c)
		case len(written) > 0 && tx.sent:
			// The writes of this call are in the transaction already, so the others begin again without it.
			sess.rollback()
			return [][]*call{slices.Concat(unanswered, calls[i+1:]), {c}}
		case len(written) > 0:
			failed = append(failed, failedCall{c, fnErr})
			unanswered = append(unanswered, c)
		case tx.sent:
			sess.rollback()
			c.done <- fnErr
			return [][]*call{calls[i+1:]}
		default:
			c.done <- fnErr
		}
	}
	if err := g.commit(ctx); err != nil {
		return runAlone(unanswered, db.noteFailure(err))
	}
	db.noteCommit()
	sendResult(written, nil)
	for _, r := range failed {
		r.done <- r.err
	}
	return nil
}

// runAlone returns the calls of a broken transaction as groups of one call each. If running alone cannot help, it
// gives the calls the error.
func runAlone(calls []*call, err error) (groups [][]*call) {
	if len(calls) == 1 || !IsRolledBack(err) {
		sendResult(calls, err)
		return nil
	}
	for _, c := range calls {
		groups = append(groups, []*call{c})
	}
	return groups
}

func sendResult(calls []*call, err error) {
	for _, c := range calls {
		c.done <- err
	}
}

// runRecovered runs fn and turns a panic into an error, so that the other calls of the group continue.
func runRecovered(fn func(tx *Tx) error, tx *Tx) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fermata.Internal("write", fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	if err = fn(tx); err == nil {
		err = tx.statementErr
	}
	return err
}

package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/fermata-hq/fermata"
)

// maxGroup is how many writes share one transaction at most. Groups form by
// themselves: whatever waits when the last commit is done goes together.
const maxGroup = 256

// Write runs fn in a transaction in which nobody else writes into the
// workspace, and returns when the commit is durable.
//
// Callers that come together share one transaction and one fsync. The function
// may run more than once, and no effect of it may leave the process. It must
// use only tx. Its writes are sent behind its back, with the next read or at
// the end; when it returns an error, none of them stays.
//
// An error with [fermata.CodeUnavailable] leaves open whether the commit
// happened: ask again with the same idempotency key.
func (db *DB) Write(ctx context.Context, workspace string, fn func(tx *Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &call{ctx: ctx, fn: fn, done: make(chan error, 1)}
	if err := db.enqueue(workspace, c); err != nil {
		return err
	}
	// The result is waited for even if ctx ends meanwhile: it is on its way,
	// and only it knows whether the write counts.
	return <-c.done
}

// call is one Write that waits for its group.
type call struct {
	ctx  context.Context
	fn   func(tx *Tx) error
	done chan error
}

// lane holds the writes that wait for one workspace, or for the one writer of
// SQLite.
type lane struct {
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
	l := db.lanes[workspace]
	if l == nil {
		l = &lane{}
		db.lanes[workspace] = l
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

// drain commits groups until nothing waits any more.
func (db *DB) drain(workspace string, l *lane) {
	for {
		l.mu.Lock()
		n := min(len(l.queue), maxGroup)
		if n == 0 {
			l.running = false
			l.queue = nil
			l.mu.Unlock()
			return
		}
		group := l.queue[:n:n]
		l.queue = l.queue[n:]
		l.mu.Unlock()
		db.commitGroup(workspace, group)
		for range group {
			db.work.Done()
		}
	}
}

// commitGroup settles every call of the group. When a shared transaction
// breaks before its commit, each call is tried alone, so that one that cannot
// be written fails by itself.
func (db *DB) commitGroup(workspace string, calls []*call) {
	for len(calls) > 0 {
		open, err := db.attempt(workspace, calls)
		if err == nil {
			calls = open
			continue
		}
		if len(calls) == 1 || !errors.Is(err, errBroken) || fermata.CodeOf(err) == fermata.CodeUnavailable {
			for _, c := range open {
				c.done <- err
			}
			return
		}
		for _, c := range open {
			db.commitGroup(workspace, []*call{c})
		}
		return
	}
}

// errBroken marks a failure before the commit was sent: nothing was written.
var errBroken = errors.New("transaction rolled back")

// attempt runs the calls in one transaction. It returns the calls that have no
// result yet, because another one left traces in the transaction and failed,
// or because of an error, which concerns them all. Whoever has a result must
// not run again: its caller has gone on.
func (db *DB) attempt(workspace string, calls []*call) (open []*call, err error) {
	ctx := context.Background()
	sess, head, err := db.backend.begin(ctx, workspace)
	if err != nil {
		return calls, err
	}
	g := &group{
		db: db, sess: sess, workspace: workspace, head: head,
		now: fermata.Cut(head.now.Add(db.opts.ClockOffset())),
	}
	var written []*call
	for i, c := range calls {
		tx := g.begin(ctx)
		fnErr := safely(c.fn, tx)
		switch {
		case fnErr == nil && g.broken == nil:
			tx.keep()
			written = append(written, c)
		case g.broken != nil:
			sess.rollback()
			return append(written, calls[i:]...), fmt.Errorf("%w: %w", errBroken, g.broken)
		case tx.sent:
			// Its writes are in the transaction already: begin anew without it.
			sess.rollback()
			c.done <- fnErr
			return append(written, calls[i+1:]...), nil
		default:
			c.done <- fnErr
		}
	}
	if err := g.commit(ctx); err != nil {
		return written, err
	}
	for _, c := range written {
		c.done <- nil
	}
	return nil, nil
}

// safely keeps a panic of one call from taking the others with it.
func safely(fn func(tx *Tx) error, tx *Tx) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fermata.Internal("write", fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	return fn(tx)
}

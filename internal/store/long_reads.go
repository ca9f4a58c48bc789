package store

import (
	"context"
	"errors"
	"time"

	"github.com/fermata-hq/fermata"
)

// defaultLongReadLimit is the time limit of a long read.
const defaultLongReadLimit = 30 * time.Second

// errTooLong is the cause that ends a long read.
var errTooLong = errors.New("the read takes too long")

// ForLongReads returns a reader for calls that may read many rows: lists, searches and analytics. Together they get half of
// the connections at most, and each read has a time limit. So they cannot take the connections of the calls that decide.
//
// If there is a standby ([Options.ReadURL]), a read uses it only if it has every event that was committed before, and
// every write of this process. So reads one after another never go back to an older event. Nothing may be decided by
// these reads.
func (r Reader) ForLongReads() Reader {
	if db, ok := r.q.(*DB); ok {
		r.q = longReads{db: db, workspace: r.workspace, standby: db.standby}
	}
	return r
}

// ForLongReadsOfPrimary is [Reader.ForLongReads], but never reads from the standby: it sees the rows by which the server
// decides.
func (r Reader) ForLongReadsOfPrimary() Reader {
	if db, ok := r.q.(*DB); ok {
		r.q = longReads{db: db, workspace: r.workspace}
	}
	return r
}

// longReads runs look-ups that may take long.
type longReads struct {
	db        *DB
	workspace string
	// standby is nil if all look-ups run on the primary.
	standby *standby
}

// maxLongReads returns how many long reads may run at the same time.
func maxLongReads(opts Options) int { return max(1, opts.MaxConns/2) }

func (l longReads) runLookups(ctx context.Context, lookups ...lookup) error {
	select {
	case l.db.longReadSlots <- struct{}{}:
		defer func() { <-l.db.longReadSlots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeoutCause(ctx, l.db.opts.LongReadLimit, errTooLong)
	defer cancel()
	err := l.run(ctx, lookups)
	if err != nil && errors.Is(context.Cause(ctx), errTooLong) {
		e := fermata.Errorf(fermata.CodeUnavailable, "the database needs more than %s for this list", l.db.opts.LongReadLimit)
		e.RetryAfter = l.db.opts.LongReadLimit
		return e.WithHint("narrow the list, for example by project, state or time")
	}
	return l.db.noteRead(err)
}

// run runs look-ups on the standby, or else on the primary.
func (l longReads) run(ctx context.Context, lookups []lookup) error {
	if l.standby != nil {
		if done, err := l.standby.read(ctx, l.db, l.workspace, lookups); done {
			return err
		}
	}
	return l.db.backend.runLookups(ctx, lookups...)
}

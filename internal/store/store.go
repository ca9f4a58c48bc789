// Package store keeps everything in one SQL database, SQLite or PostgreSQL.
//
// There is one store for both: the SQL text is shared, and dialect.go lists
// what differs. A write goes through [DB.Write], the only door; a read through
// a [Reader], which is bound to one workspace and cannot leave it. The package
// decides nothing: rules are methods of the root package, called by engine.
package store

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/keys"
)

// DefaultWorkspace is the workspace that a new database has.
const DefaultWorkspace = "default"

// Options say which database to open.
type Options struct {
	// URL is postgres://… for PostgreSQL; anything else is the path of a
	// SQLite file, which is made when it does not exist.
	URL string
	// Schema is the PostgreSQL schema to live in; empty uses the connection's.
	Schema string
	// HeadFile is the file that keeps what was acknowledged, outside the
	// database; empty takes one beside a SQLite file, and none for PostgreSQL.
	HeadFile string
	// MaxConns bounds the connections that read; 0 takes 8.
	MaxConns int
	// StallLimit is how long a write on PostgreSQL may stand still before the server ends it; 0 takes five seconds.
	StallLimit time.Duration
	// Clock replaces the database's clock where it is set; in tests, time stands still by it until they move it.
	Clock func() time.Time
	// ClockOffset moves time; tests travel in time with it.
	ClockOffset func() time.Duration
	// ClockError is by how much the database's clock is wrong; tests make it jump.
	ClockError func() time.Duration
	// Elapsed is the time that has passed since some fixed moment, by a clock that
	// nobody can set; nil takes the machine's.
	Elapsed func() time.Duration
	// Keys are the master keys that seal secrets. Without them secrets are neither read nor written.
	Keys *keys.Ring
	// Log is told of rights of files that were mended; nil discards it.
	Log *slog.Logger
	// vfs is the disk that SQLite uses; tests have one whose calls fail.
	vfs string
}

// DB is an open database.
type DB struct {
	opts    Options
	backend backend
	clock   *clock
	skew    skew

	onCommit func(workspace string, events []*fermata.Event)

	health health
	// heads are what was acknowledged, kept outside the database; nil where there is no place for them.
	heads *heads
	// ends are the heads that this process committed, by workspace.
	ends sync.Map

	mu     sync.Mutex
	queues map[string]*writeQueue
	closed bool
	work   sync.WaitGroup
}

// Open opens the database and refuses settings under which an acknowledged
// answer could be lost. It does not migrate; see [DB.Migrate].
func Open(ctx context.Context, opts Options) (*DB, error) {
	if opts.MaxConns == 0 {
		opts.MaxConns = 8
	}
	if opts.StallLimit == 0 {
		opts.StallLimit = defaultStallLimit
	}
	if opts.ClockOffset == nil {
		opts.ClockOffset = func() time.Duration { return 0 }
	}
	if opts.ClockError == nil {
		opts.ClockError = func() time.Duration { return 0 }
	}
	if opts.Elapsed == nil {
		opts.Elapsed = elapsed
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	open := openSQLite
	if IsPostgres(opts.URL) {
		open = openPostgres
	}
	b, err := open(ctx, opts)
	if err != nil {
		return nil, err
	}
	db := &DB{
		opts: opts, backend: b, clock: &clock{elapsed: opts.Elapsed}, queues: map[string]*writeQueue{},
		health: health{failed: make(chan struct{}, 1), written: time.Now()},
	}
	b.onFault(func(err error) { _ = db.noteFailure(err) })
	return db, nil
}

// OnCommit sets what is called after every commit with the events that it
// wrote, in order, by the goroutine that committed. It must not write, and is
// set before the first write.
func (db *DB) OnCommit(fn func(workspace string, events []*fermata.Event)) { db.onCommit = fn }

// IsPostgres reports whether the address names a PostgreSQL database.
func IsPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// Close waits for the writes under way and closes the connections. Closing
// again is fine.
func (db *DB) Close() error {
	db.mu.Lock()
	closed := db.closed
	db.closed = true
	db.mu.Unlock()
	if closed {
		return nil
	}
	db.work.Wait()
	t := db.Trouble()
	whole := t == nil || !t.Stopped
	err := db.backend.close(whole)
	return errors.Join(err, db.closeHeads(whole && err == nil))
}

// Dialect names the database: sqlite or postgres.
func (db *DB) Dialect() string { return db.backend.dialect().name }

// Ping reports whether the database answers, and accepts this program.
func (db *DB) Ping(ctx context.Context) error {
	needed, err := list(db.In(ctx, ""), scanInt, "SELECT min_compatible_version FROM workspaces")
	for _, version := range needed {
		err = errors.Join(err, checkVersion(version))
	}
	return err
}

// Now returns the time by the database's clock. A jump of that clock does not
// count before [DB.AcceptClock].
func (db *DB) Now(ctx context.Context) (time.Time, error) {
	reading, err := db.readClock(ctx)
	if err != nil {
		return time.Time{}, err
	}
	return db.timeAt(reading), nil
}

// In returns a reader of one workspace that is good as long as ctx.
func (db *DB) In(ctx context.Context, workspace string) Reader {
	return Reader{ctx: ctx, q: db, d: db.backend.dialect(), ring: db.opts.Keys, workspace: workspace}
}

// look answers look-ups outside of a write.
func (db *DB) look(ctx context.Context, lookups ...lookup) error {
	return db.noteRead(db.backend.look(ctx, lookups...))
}

// backend is one of the two databases.
type backend interface {
	querier
	dialect() *dialect
	now(ctx context.Context) (time.Time, error)
	// begin opens a write transaction in which nobody else writes into the
	// workspace, answers the look-ups, and returns the counter row, in one
	// round trip where the database can.
	begin(ctx context.Context, workspace string, ahead []lookup) (session, counter, error)
	migrate(ctx context.Context, ring *keys.Ring) error
	// inspect looks whether the files are still what they were; it is cheap.
	inspect() error
	// onFault sets what is told of failures that no caller sees. It is set before the first write.
	onFault(tell func(error))
	// listen calls wake whenever another process committed, until ctx ends.
	listen(ctx context.Context, wake func(workspace string)) error
	// notify tells other processes of a commit. It is a hint and may be lost.
	notify(ctx context.Context, workspace string) error
	// self, isSeen and gone are those of [DB].
	self() string
	isSeen() bool
	canBeSeen() <-chan struct{}
	goneProcesses(ctx context.Context, names []string) ([]string, error)
	// close ends the connections. After a failure the database is left as it is: it is not whole.
	close(whole bool) error
}

// querier answers look-ups.
type querier interface {
	look(ctx context.Context, lookups ...lookup) error
}

// lookup is a query and what takes its rows.
type lookup struct {
	sql  string
	args []any
	// take reads all rows. It need not close them.
	take func(rows) error
}

// session is one write transaction of a backend.
type session interface {
	// run executes the statements and then the look-ups, in one round trip
	// where the database can.
	run(ctx context.Context, before []statement, lookups []lookup) error
	// commit executes what is left and commits. An error with errBroken says
	// that nothing was written; any other leaves that open.
	commit(ctx context.Context, last []statement) error
	rollback()
}

// counter is a workspace's counter row, and the clock when it was locked.
type counter struct {
	fermata.Chain
	now time.Time
}

// statement is a write that waits to be sent.
type statement struct {
	sql  string
	args []any
	// one says that exactly one row must change.
	one bool
}

// rows is what database/sql and pgx have in common.
type rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
}

// Package store keeps everything in one SQL database, SQLite or PostgreSQL.
//
// There is one store for both: the SQL text is shared, and dialect.go lists
// what differs. A write goes through [DB.Write], the only door; a read through
// a [Reader], which is bound to one workspace and cannot leave it. The package
// decides nothing: rules are methods of the root package, called by engine.
package store

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
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
	// MaxConns bounds the connections that read; 0 takes 8.
	MaxConns int
	// ClockOffset moves the database's clock; tests travel in time with it.
	ClockOffset func() time.Duration
}

// DB is an open database.
type DB struct {
	opts    Options
	backend backend

	onCommit func(workspace string, events []*fermata.Event)

	mu     sync.Mutex
	lanes  map[string]*lane
	closed bool
	work   sync.WaitGroup
}

// Open opens the database and refuses settings under which an acknowledged
// answer could be lost. It does not migrate; see [DB.Migrate].
func Open(ctx context.Context, opts Options) (*DB, error) {
	if opts.MaxConns == 0 {
		opts.MaxConns = 8
	}
	if opts.ClockOffset == nil {
		opts.ClockOffset = func() time.Duration { return 0 }
	}
	open := openSQLite
	if IsPostgres(opts.URL) {
		open = openPostgres
	}
	b, err := open(ctx, opts)
	if err != nil {
		return nil, err
	}
	return &DB{opts: opts, backend: b, lanes: map[string]*lane{}}, nil
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
	return db.backend.close()
}

// Dialect names the database: sqlite or postgres.
func (db *DB) Dialect() string { return db.backend.dialect().name }

// Ping reports whether the database answers.
func (db *DB) Ping(ctx context.Context) error {
	_, err := list(db.In(ctx, ""), scanString, "SELECT id FROM workspaces LIMIT 1")
	return err
}

// Now returns the time by the database's clock.
func (db *DB) Now(ctx context.Context) (time.Time, error) {
	now, err := db.backend.now(ctx)
	return fermata.Cut(now.Add(db.opts.ClockOffset())), err
}

// In returns a reader of one workspace that is good as long as ctx.
func (db *DB) In(ctx context.Context, workspace string) Reader {
	return Reader{ctx: ctx, q: db.backend, d: db.backend.dialect(), workspace: workspace}
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
	migrate(ctx context.Context) error
	// listen calls wake whenever another process committed, until ctx ends.
	listen(ctx context.Context, wake func(workspace string)) error
	// notify tells other processes of a commit. It is a hint and may be lost.
	notify(ctx context.Context, workspace string) error
	close() error
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

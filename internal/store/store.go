// Package store stores all data in one SQL database, SQLite or PostgreSQL.
//
// There is one store for both databases: they share the SQL text, and dialect.go lists the differences. Every write
// goes through [DB.Write]. Every read goes through a [Reader], which is bound to one workspace and cannot leave it.
// The package decides nothing: rules are methods of the root package, and the package engine calls them.
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

// Options name the database to open, and how to open it.
type Options struct {
	// URL is postgres://… for PostgreSQL. Anything else is the path of a SQLite file, which is created if it does not
	// exist.
	URL string
	// DirectURL is the address of PostgreSQL itself, if URL names a pooler; empty means none. It is used for what needs
	// a session: waiting for commits of other processes, presence and migrations.
	DirectURL string
	// ReadURL is the address of a standby of PostgreSQL from which long reads may read; empty means none. See
	// [Reader.ForLongReads].
	ReadURL string
	// Schema is the PostgreSQL schema of the tables; empty uses the connection's.
	Schema string
	// HeadFile is the file outside the database that stores which events were acknowledged. If it is empty, it is
	// beside a SQLite file, and there is none for PostgreSQL.
	HeadFile string
	// MaxConns is the largest number of connections for reads; 0 means 8.
	MaxConns int
	// LongReadLimit is the time limit of each read through [Reader.ForLongReads]; 0 means 30 seconds.
	LongReadLimit time.Duration
	// StallLimit is how long a write on PostgreSQL may stall before the server ends it; 0 means five seconds.
	StallLimit time.Duration
	// Clock replaces the database's clock if it is set. Tests use it to stop and to move the time.
	Clock func() time.Time
	// ClockOffset is added to the time. Tests use it to travel in time.
	ClockOffset func() time.Duration
	// ClockError is the error of the database's clock. Tests use it to make that clock jump.
	ClockError func() time.Duration
	// Elapsed returns the time that has passed since a fixed moment, by a clock that nobody can set. If it is nil,
	// the machine's clock is used.
	Elapsed func() time.Duration
	// Keys are the master keys that seal secrets. Without them, secrets can neither be read nor written.
	Keys *keys.Ring
	// Log records which file permissions were corrected, and troubles of the standby; nil discards this.
	Log *slog.Logger
	// vfs is the name of the virtual file system (VFS) that SQLite uses. Tests use one whose calls fail.
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
	// heads stores outside the database which events were acknowledged. It is nil if there is no place for this file.
	heads *heads
	// committedHeads are the heads that this process committed, by workspace, each a committedHead.
	committedHeads sync.Map
	// longReadSlots has a place for each long read that may run now.
	longReadSlots chan struct{}
	// standby is nil if there is none. committedTransactions are then the ids of the last transactions that this process
	// committed, by workspace.
	standby               *standby
	committedTransactions sync.Map

	mu     sync.Mutex
	queues map[string]*writeQueue
	closed bool
	work   sync.WaitGroup
}

// Open opens the database. It returns an error if settings of the database could lose an acknowledged answer. It does
// not migrate; see [DB.Migrate].
func Open(ctx context.Context, opts Options) (*DB, error) {
	if opts.MaxConns == 0 {
		opts.MaxConns = 8
	}
	if opts.LongReadLimit == 0 {
		opts.LongReadLimit = defaultLongReadLimit
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
		health:        health{wakeWatch: make(chan struct{}, 1), lastWrite: time.Now()},
		longReadSlots: make(chan struct{}, maxLongReads(opts)),
	}
	if db.standby, err = newStandby(b, opts); err != nil {
		return nil, errors.Join(err, b.close(true))
	}
	b.onFault(func(err error) { _ = db.noteFailure(err) })
	return db, nil
}

// OnCommit sets a function that is called after every commit with the events of that commit, in order. It runs in the
// goroutine that committed, and must not write. Call OnCommit before the first write.
func (db *DB) OnCommit(fn func(workspace string, events []*fermata.Event)) { db.onCommit = fn }

// IsPostgres reports whether the address names a PostgreSQL database.
func IsPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// Close waits for the writes under way and closes the connections. A second call does nothing.
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
	db.standby.close()
	err := db.backend.close(whole)
	return errors.Join(err, db.closeHeads(whole && err == nil))
}

// Dialect returns the name of the database: sqlite or postgres.
func (db *DB) Dialect() string { return db.backend.dialect().name }

// Ping returns an error if the database does not answer, or does not accept this program.
func (db *DB) Ping(ctx context.Context) error {
	needed, err := list(db.Reader(ctx, ""), scanInt, "SELECT min_compatible_version FROM workspaces")
	for _, version := range needed {
		err = errors.Join(err, checkVersion(version))
	}
	return err
}

// Now returns the time by the database's clock. A jump of that clock counts only after [DB.AcceptClock].
func (db *DB) Now(ctx context.Context) (time.Time, error) {
	reading, err := db.readClock(ctx)
	if err != nil {
		return time.Time{}, err
	}
	return db.timeAt(reading), nil
}

// Reader returns a reader of one workspace. The reader is valid until ctx ends.
func (db *DB) Reader(ctx context.Context, workspace string) Reader {
	return Reader{ctx: ctx, q: db, d: db.backend.dialect(), ring: db.opts.Keys, workspace: workspace}
}

// runLookups runs look-ups outside a write.
func (db *DB) runLookups(ctx context.Context, lookups ...lookup) error {
	return db.noteRead(db.backend.runLookups(ctx, lookups...))
}

// backend is one of the two databases.
type backend interface {
	querier
	dialect() *dialect
	now(ctx context.Context) (time.Time, error)
	// begin opens a write transaction, runs the look-ups, and returns the counter row, in one round trip if the
	// database can. No other transaction writes into the workspace meanwhile.
	begin(ctx context.Context, workspace string, ahead []lookup) (session, counter, error)
	migrate(ctx context.Context, ring *keys.Ring) error
	// inspect returns an error if the files were replaced or cut. It is cheap.
	inspect() error
	// onFault sets a function that is called with failures that no caller gets. It is set before the first write.
	onFault(tell func(error))
	// listen calls wake whenever another process has committed, until ctx ends.
	listen(ctx context.Context, wake func()) error
	// notify tells other processes about a commit. It is a hint and may be lost.
	notify(ctx context.Context) error
	// See the methods of [DB] with these names.
	processName() string
	isPresent() bool
	presenceSettled() <-chan struct{}
	goneProcesses(ctx context.Context, names []string) ([]string, error)
	// close closes the connections. If the database is not whole after a failure, close leaves it as it is.
	close(whole bool) error
}

// querier runs look-ups.
type querier interface {
	runLookups(ctx context.Context, lookups ...lookup) error
}

// lookup is a query and the function that reads its rows.
type lookup struct {
	sql  string
	args []any
	// scanRows reads all rows. It need not close them.
	scanRows func(rows) error
}

// session is one write transaction of a backend.
type session interface {
	// run executes the statements and then the look-ups, in one round trip if the database can.
	run(ctx context.Context, before []statement, lookups []lookup) error
	// commit executes the remaining statements and commits. After an error with errBroken, nothing was written. After
	// any other error, it is unknown whether the commit happened.
	commit(ctx context.Context, last []statement) error
	rollback()
}

// counter is a workspace's counter row, and the time when the row was locked.
type counter struct {
	fermata.Chain
	now time.Time
	// server identifies the run of the PostgreSQL server that answered. It is 0 on SQLite.
	server int64
	// transaction is the id of the transaction that locked the row. It is "" if there is no standby.
	transaction string
}

// statement is a write that waits to be sent.
type statement struct {
	sql  string
	args []any
	// one reports whether exactly one row must change.
	one bool
}

// rows is the common part of the rows of database/sql and pgx.
type rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
}

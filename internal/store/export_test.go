package store

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// These are internals that the tests use.
var (
	CheckSetting       = checkSetting
	CheckSQLiteVersion = checkSQLiteVersion
)

// Queued returns the number of writes that wait for a workspace's next group.
func Queued(db *DB, workspace string) int {
	db.mu.Lock()
	l := db.queues[workspace]
	db.mu.Unlock()
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue)
}

// Record passes every statement that the database runs to see.
func Record(db *DB, see func(sql string)) { db.backend = recorder{db.backend, see} }

type recorder struct {
	backend
	see func(string)
}

func (r recorder) runLookups(ctx context.Context, lookups ...lookup) error {
	seeAll(r.see, nil, lookups)
	return r.backend.runLookups(ctx, lookups...)
}

func (r recorder) begin(ctx context.Context, workspace string, ahead []lookup) (session, counter, error) {
	seeAll(r.see, nil, ahead)
	s, c, err := r.backend.begin(ctx, workspace, ahead)
	return recordedSession{s, r.see}, c, err
}

type recordedSession struct {
	session
	see func(string)
}

func (s recordedSession) run(ctx context.Context, before []statement, lookups []lookup) error {
	seeAll(s.see, before, lookups)
	return s.session.run(ctx, before, lookups)
}

func (s recordedSession) commit(ctx context.Context, last []statement) error {
	seeAll(s.see, last, nil)
	return s.session.commit(ctx, last)
}

func seeAll(see func(string), statements []statement, lookups []lookup) {
	for _, st := range statements {
		see(st.sql)
	}
	for _, l := range lookups {
		see(l.sql)
	}
}

// ExecWriter runs a statement on SQLite's connection for writes.
func ExecWriter(_ context.Context, db *DB, text string) error {
	b := db.backend.(*sqliteBackend)
	b.gate <- struct{}{}
	defer func() { <-b.gate }()
	_, err := b.writer.exec(text)
	return err
}

// MaxPrepared is the largest number of prepared statements that are kept, and Prepared returns how many there are.
const MaxPrepared = maxPrepared

// Prepared is described at [MaxPrepared].
func Prepared(db *DB) int { return len(db.backend.(*sqliteBackend).reads.all) }

// PragmaOfReader returns a setting of SQLite's connections for reads.
func PragmaOfReader(ctx context.Context, db *DB, name string) (string, error) {
	var value string
	err := db.backend.(*sqliteBackend).readers.QueryRowContext(ctx, "PRAGMA "+name).Scan(&value)
	return value, err
}

// Recheck reads the settings of SQLite back once more.
func Recheck(db *DB) error { return db.backend.(*sqliteBackend).check() }

// OpenRows starts a query on SQLite and leaves it open until the function that
// it returns is called.
func OpenRows(ctx context.Context, db *DB, text string) (func() error, error) {
	r, err := db.backend.(*sqliteBackend).readers.QueryContext(ctx, text) //nolint:rowserrcheck,sqlclosecheck // the test closes them
	if err != nil {
		return nil, err
	}
	r.Next()
	return r.Close, nil
}

// Backends returns the process ids of the idle PostgreSQL connections.
func Backends(ctx context.Context, db *DB) []uint32 {
	var ids []uint32
	for _, conn := range db.backend.(*postgresBackend).pool.AcquireAllIdle(ctx) {
		ids = append(ids, conn.Conn().PgConn().PID())
		conn.Release()
	}
	return ids
}

// Analyze runs a query on PostgreSQL, and returns its plan with the cost of each part.
func Analyze(ctx context.Context, db *DB, query string) (string, error) {
	rows, err := db.backend.(*postgresBackend).pool.Query(ctx, "EXPLAIN ANALYZE "+query)
	if err != nil {
		return "", err
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return strings.Join(lines, "\n"), err
}

// SetReplyTimeout sets how long writes wait for PostgreSQL.
func SetReplyTimeout(db *DB, d time.Duration) { db.backend.(*postgresBackend).replyTimeout = d }

// MigrateDown undoes all migrations.
func MigrateDown(ctx context.Context, db *DB) error { return MigrateDownTo(ctx, db, 0) }

// MigrateDownTo undoes the migrations after a version.
func MigrateDownTo(ctx context.Context, db *DB, version int64) error {
	down := func(dialect goose.Dialect, pool *sql.DB) error {
		provider, err := newProvider(dialect, pool, db.opts.Keys)
		if err != nil {
			return err
		}
		_, err = provider.DownTo(ctx, version)
		return err
	}
	b, isPostgres := db.backend.(*postgresBackend)
	if !isPostgres {
		pool, err := sql.Open("sqlite", sqliteDSN(db.opts.URL, ""))
		if err != nil {
			return err
		}
		defer func() { _ = pool.Close() }()
		return down(goose.DialectSQLite3, pool)
	}
	pool := stdlib.OpenDBFromPool(b.pool)
	defer func() { _ = pool.Close() }()
	return down(goose.DialectPostgres, pool)
}

// Statements collects the statements that several databases run.
type Statements struct {
	mu   sync.Mutex
	seen map[string]bool
}

// See adds a statement.
func (s *Statements) See(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	s.seen[text] = true
}

// All returns the statements.
func (s *Statements) All() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for text := range s.seen {
		all = append(all, text)
	}
	return all
}

// WithVFS returns the options with another virtual file system for SQLite files.
func WithVFS(o Options, name string) Options {
	o.vfs = name
	return o
}

// CheckpointPages is the number of pages from which on the write-ahead log is copied into the database.
const CheckpointPages = checkpointPages

// Inspect checks the files of the database, as the watch does.
func Inspect(ctx context.Context, db *DB) { db.examine(ctx) }

// Reporter returns the function with which the watch reports a trouble.
func Reporter(changed func(*Trouble)) func(t *Trouble, now time.Time) {
	r := reporter{changed: changed}
	return r.report
}

// HoldLongRead runs a long read that reports when it runs, and then waits for release.
func HoldLongRead(r Reader, runs chan<- struct{}, release <-chan struct{}) error {
	_, err := list(r.ForLongReads(), func(rs rows) (struct{}, error) {
		runs <- struct{}{}
		<-release
		var one int64
		return struct{}{}, rs.Scan(&one)
	}, "SELECT event_seq FROM workspaces")
	return err
}

// ReadForEver runs a long read that never ends by itself.
func ReadForEver(r Reader) error {
	_, err := list(r.ForLongReads(), scanInt, "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT 1 - x FROM n) SELECT count(*) FROM n")
	return err
}

// ReadBehindLock runs a long read of the workspace's last number. The read waits for the advisory lock 7 of the server on
// which it runs.
func ReadBehindLock(r Reader) (int64, error) {
	found, err := list(r.ForLongReads(), scanInt,
		"SELECT event_seq FROM (SELECT pg_advisory_xact_lock_shared(7)::text AS held OFFSET 0) AS l, workspaces WHERE id = 'default' AND held = ''")
	if err != nil || len(found) != 1 {
		return 0, err
	}
	return found[0], nil
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// oldestSQLite is the first SQLite library without the WAL-reset bug, which
// could corrupt a database (3.7.0 to 3.51.2).
const oldestSQLite = 3_051_003

// sqliteBackend has one connection for writes and a pool of connections that
// only read.
type sqliteBackend struct {
	name    string
	writer  *sql.DB
	readers *sql.DB
	// conn is the writer's only connection. gate gives it to one transaction at
	// a time.
	conn *sql.Conn
	gate chan struct{}
	// writes are the writer's prepared statements, reads are the readers'.
	writes, reads preparedCache
	files         sqliteFiles
	// log counts the commits since the length of the write-ahead log was read.
	log writeAheadLog
	// onFailure is called with failures that no caller gets.
	onFailure func(error)
}

func openSQLite(ctx context.Context, opts Options) (backend, error) {
	path, err := filepath.Abs(strings.TrimPrefix(opts.URL, "sqlite://"))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, unavailable("make the data folder", err)
	}
	if err := protectFiles(path, opts.Log); err != nil {
		return nil, unavailable("close the files of the database to other users", err)
	}
	b := &sqliteBackend{name: newProcessName(), gate: make(chan struct{}, 1), files: sqliteFiles{path: path}, onFailure: func(error) {}}
	if b.writer, err = sql.Open("sqlite", sqliteDSN(path, "rwc", opts.vfs)); err != nil {
		return nil, err
	}
	b.writer.SetMaxOpenConns(1)
	if b.conn, err = b.writer.Conn(ctx); err != nil {
		return nil, errors.Join(unavailable("open "+path, sqliteTrouble(err)), b.writer.Close())
	}
	if b.readers, err = sql.Open("sqlite", sqliteDSN(path, "rw", opts.vfs)+"&_pragma=query_only(1)"); err != nil {
		return nil, errors.Join(err, b.close(true))
	}
	b.readers.SetMaxOpenConns(opts.MaxConns)
	b.readers.SetMaxIdleConns(opts.MaxConns)
	if err := errors.Join(b.check(ctx), b.files.recordOpened()); err != nil {
		return nil, errors.Join(err, b.close(true))
	}
	return b, nil
}

func sqliteDSN(path, mode, vfs string) string {
	pragmas := "&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)&_pragma=wal_autocheckpoint(0)"
	if vfs != "" {
		pragmas += "&vfs=" + url.QueryEscape(vfs)
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?mode=" + mode + pragmas
}

// check reads the settings back and returns an error if one was not applied.
// Otherwise an acknowledged answer could be lost.
func (b *sqliteBackend) check(ctx context.Context) error {
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "5000", "wal_autocheckpoint": "0",
	} {
		var got string
		if err := b.conn.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(&got); err != nil {
			return unavailable("read pragma "+pragma, sqliteTrouble(err))
		}
		if got != want {
			return fmt.Errorf("SQLite: %s is %s and must be %s: the database would not be safe", pragma, got, want)
		}
	}
	var version string
	if err := b.conn.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); err != nil {
		return unavailable("read the SQLite version", err)
	}
	return checkSQLiteVersion(version)
}

func checkSQLiteVersion(version string) error {
	var n int
	for _, part := range strings.SplitN(version, ".", 3) {
		v, err := strconv.Atoi(part)
		if err != nil {
			return fmt.Errorf("SQLite: the version %q is not readable", version)
		}
		n = n*1000 + v
	}
	if n < oldestSQLite {
		return fmt.Errorf("SQLite %s can corrupt a database in WAL mode: 3.51.3 or newer is needed", version)
	}
	return nil
}

func (b *sqliteBackend) dialect() *dialect { return &sqliteDialect }

func (b *sqliteBackend) now(context.Context) (time.Time, error) { return time.Now(), nil }

// listen only waits for ctx to end: a SQLite file has one process, so there are
// no commits of others.
func (b *sqliteBackend) listen(ctx context.Context, _ func(string)) error {
	<-ctx.Done()
	return nil
}

// closedChannel is a closed channel. On SQLite, presenceSettled returns it,
// because no other process watches this process.
var closedChannel = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// A SQLite file has one process, and no other process watches it.
func (b *sqliteBackend) processName() string                                       { return b.name }
func (b *sqliteBackend) isPresent() bool                                           { return false }
func (b *sqliteBackend) presenceSettled() <-chan struct{}                          { return closedChannel }
func (b *sqliteBackend) goneProcesses(context.Context, []string) ([]string, error) { return nil, nil }

func (b *sqliteBackend) notify(context.Context, string) error { return nil }

func (b *sqliteBackend) runLookups(ctx context.Context, lookups ...lookup) error {
	for _, l := range lookups {
		if err := b.reads.withStmt(ctx, b.readers, l.sql, l.queryFunc(ctx)); err != nil {
			return sqliteError(err)
		}
	}
	return nil
}

// queryFunc returns a function that answers the look-up with its prepared
// statement.
func (l lookup) queryFunc(ctx context.Context) func(*sql.Stmt) error {
	return func(stmt *sql.Stmt) error {
		rs, err := stmt.QueryContext(ctx, l.args...)
		if err != nil {
			return err
		}
		return errors.Join(l.scanRows(rs), rs.Close())
	}
}

func (b *sqliteBackend) begin(ctx context.Context, workspace string, ahead []lookup) (session, counter, error) {
	b.gate <- struct{}{}
	s := &sqliteSession{b: b}
	if err := s.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		<-b.gate
		return nil, counter{}, err
	}
	var heads []counter
	lock := scanInto(&heads, func(rs rows) (counter, error) {
		var needed int64
		chain, err := scanHead(rs, &needed)
		return counter{chain, time.Now(), 0}, errors.Join(err, checkVersion(needed))
	}, "SELECT event_seq, event_hash, min_compatible_version FROM workspaces WHERE id = $1", workspace)
	err := s.run(ctx, nil, append([]lookup{lock}, ahead...))
	if err == nil && len(heads) == 0 {
		err = fermata.NotFound("workspace", workspace)
	}
	if err != nil {
		s.rollback()
		return nil, counter{}, err
	}
	return s, heads[0], nil
}

// sqliteSession is a transaction on the writer's connection.
type sqliteSession struct{ b *sqliteBackend }

func (s *sqliteSession) withStmt(ctx context.Context, text string, fn func(*sql.Stmt) error) error {
	return s.b.wrapError(s.b.writes.withStmt(ctx, s.b.conn, text, fn))
}

func (s *sqliteSession) exec(ctx context.Context, text string) error {
	return s.withStmt(ctx, text, func(stmt *sql.Stmt) error {
		_, err := stmt.ExecContext(ctx)
		return err
	})
}

func (s *sqliteSession) run(ctx context.Context, before []statement, lookups []lookup) error {
	for _, st := range before {
		if err := s.execStatement(ctx, st); err != nil {
			return err
		}
	}
	for _, l := range lookups {
		if err := s.withStmt(ctx, l.sql, l.queryFunc(ctx)); err != nil {
			return err
		}
	}
	return nil
}

func (s *sqliteSession) execStatement(ctx context.Context, st statement) error {
	return s.withStmt(ctx, st.sql, func(stmt *sql.Stmt) error {
		result, err := stmt.ExecContext(ctx, st.args...)
		if err != nil || !st.one {
			return err
		}
		n, err := result.RowsAffected()
		if err == nil && n != 1 {
			err = conflictError(st)
		}
		return err
	})
}

func (s *sqliteSession) commit(ctx context.Context, last []statement) error {
	if err := s.run(ctx, last, nil); err != nil {
		s.rollback()
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	if err := s.exec(ctx, "COMMIT"); err != nil {
		s.rollback()
		return unavailable("commit", err)
	}
	s.b.checkpointWhenLong(ctx)
	<-s.b.gate
	return nil
}

func (s *sqliteSession) rollback() {
	// If the rollback fails, there is no transaction to roll back.
	_ = s.exec(context.Background(), "ROLLBACK")
	<-s.b.gate
}

// conflictError returns the error of a conditional write that found another state
// than the one that was read. Inside the workspace's lock this means a bug, or
// that another program changes the database.
func conflictError(st statement) error {
	return fmt.Errorf("not exactly one row changed: %s", st.sql)
}

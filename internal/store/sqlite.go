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
	name string
	// writer is the connection for writes. gate gives it to one transaction at a time.
	writer  *sqliteWriter
	gate    chan struct{}
	readers *sql.DB
	// reads are the prepared statements of the readers.
	reads preparedCache
	files sqliteFiles
	// vfs is described at [Options].
	vfs string
	// log counts the commits since the length of the write-ahead log was read.
	log writeAheadLog
	// onFailure is called with failures that no caller gets.
	onFailure func(error)
}

func openSQLite(_ context.Context, opts Options) (backend, error) {
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
	b := &sqliteBackend{name: newProcessName(), gate: make(chan struct{}, 1), files: sqliteFiles{path: path}, vfs: opts.vfs, onFailure: func(error) {}}
	if b.writer, err = openSQLiteWriter(path, opts.vfs); err != nil {
		return nil, unavailable("open "+path, sqliteTrouble(err))
	}
	if b.readers, err = sql.Open("sqlite", sqliteDSN(path, opts.vfs)+"&_pragma=query_only(1)"); err != nil {
		return nil, errors.Join(err, b.close(true))
	}
	b.readers.SetMaxOpenConns(opts.MaxConns)
	b.readers.SetMaxIdleConns(opts.MaxConns)
	if err := errors.Join(b.check(), b.files.recordOpened()); err != nil {
		return nil, errors.Join(err, b.close(true))
	}
	return b, nil
}

// sqliteSettings are the settings of each connection. SQLite returns readBack for a setting that was applied.
var sqliteSettings = []struct{ name, value, readBack string }{
	{"busy_timeout", "5000", "5000"},
	{"journal_mode", "WAL", "wal"},
	{"synchronous", "FULL", "2"},
	{"foreign_keys", "1", "1"},
	{"wal_autocheckpoint", "0", "0"},
	// A long reader makes the write-ahead log long. Afterwards the file is cut to this many bytes.
	{"journal_size_limit", "16777216", "16777216"},
}

// sqliteAddress returns the URI of a database file (https://www.sqlite.org/uri.html).
func sqliteAddress(path, mode, vfs string) string {
	address := "file:" + (&url.URL{Path: path}).EscapedPath() + "?mode=" + mode
	if vfs != "" {
		address += "&vfs=" + url.QueryEscape(vfs)
	}
	return address
}

// sqliteDSN returns the address of a database that exists, for database/sql.
func sqliteDSN(path, vfs string) string {
	address := sqliteAddress(path, "rw", vfs)
	for _, s := range sqliteSettings {
		address += "&_pragma=" + s.name + "(" + s.value + ")"
	}
	return address
}

// check reads the settings back and returns an error if one was not applied.
// Otherwise an acknowledged answer could be lost.
func (b *sqliteBackend) check() error {
	for _, s := range sqliteSettings {
		var got string
		if err := b.writer.queryRow("PRAGMA "+s.name, &got); err != nil {
			return unavailable("read pragma "+s.name, sqliteTrouble(err))
		}
		if got != s.readBack {
			return fmt.Errorf("SQLite: %s is %s and must be %s: the database would not be safe", s.name, got, s.readBack)
		}
	}
	var version string
	if err := b.writer.queryRow("SELECT sqlite_version()", &version); err != nil {
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
func (b *sqliteBackend) listen(ctx context.Context, _ func()) error {
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

func (b *sqliteBackend) notify(context.Context) error { return nil }

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
	if err := s.exec("BEGIN IMMEDIATE"); err != nil {
		<-b.gate
		return nil, counter{}, err
	}
	var heads []counter
	lock := scanInto(&heads, func(rs rows) (counter, error) {
		var needed int64
		chain, err := scanHead(rs, &needed)
		return counter{Chain: chain, now: time.Now()}, errors.Join(err, checkVersion(needed))
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

func (s *sqliteSession) exec(text string) error {
	_, err := s.b.writer.exec(text)
	return s.b.wrapError(err)
}

func (s *sqliteSession) run(_ context.Context, before []statement, lookups []lookup) error {
	for _, st := range before {
		changed, err := s.b.writer.exec(st.sql, st.args...)
		if err == nil && st.one && changed != 1 {
			err = conflictError(st)
		}
		if err != nil {
			return s.b.wrapError(err)
		}
	}
	for _, l := range lookups {
		if err := s.b.writer.query(l.sql, l.args, l.scanRows); err != nil {
			return s.b.wrapError(err)
		}
	}
	return nil
}

func (s *sqliteSession) commit(ctx context.Context, last []statement) error {
	if err := s.run(ctx, last, nil); err != nil {
		s.rollback()
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	if err := s.exec("COMMIT"); err != nil {
		s.rollback()
		return unavailable("commit", err)
	}
	s.b.checkpointWhenLong()
	<-s.b.gate
	return nil
}

func (s *sqliteSession) rollback() {
	// If the rollback fails, there is no transaction to roll back.
	_ = s.exec("ROLLBACK")
	<-s.b.gate
}

// conflictError returns the error of a conditional write that found another state
// than the one that was read. Inside the workspace's lock this means a bug, or
// that another program changes the database.
func conflictError(st statement) error {
	return fmt.Errorf("not exactly one row changed: %s", st.sql)
}

// Package storetest opens real databases for tests: SQLite in a temporary
// file, and PostgreSQL in a schema of its own.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/fermata-hq/fermata/internal/keys"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/test/patience"
)

// PostgresEnv is the environment variable with the address of a PostgreSQL server for tests. The value "none" leaves
// PostgreSQL out on purpose.
const PostgresEnv = "FERMATA_TEST_POSTGRES"

// Each runs a test on both databases.
func Each(t *testing.T, test func(t *testing.T, opts store.Options)) {
	t.Helper()
	EachKind(t, func(t *testing.T, empty func(testing.TB) store.Options) { test(t, empty(t)) })
}

// EachUnshared runs a test on both databases. No other test uses these databases afterwards, so the test may undo
// migrations.
func EachUnshared(t *testing.T, test func(t *testing.T, opts store.Options)) {
	t.Helper()
	Each(t, func(t *testing.T, opts store.Options) {
		if store.IsPostgres(opts.URL) {
			opts = EmptyPostgres(t)
		}
		test(t, opts)
	})
}

// EachKind runs a test on both databases. The test calls empty for each empty database that it needs.
func EachKind(t *testing.T, test func(t *testing.T, empty func(testing.TB) store.Options)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, SQLite)
	})
	if os.Getenv(PostgresEnv) == "none" {
		t.Log("PostgreSQL is left out: " + PostgresEnv + "=none")
		return
	}
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, Postgres)
	})
}

// SQLite returns the options of a new SQLite file that is already migrated: copying a template costs less than the
// migrations.
func SQLite(tb testing.TB) store.Options {
	tb.Helper()
	migrated, err := template()
	if err != nil {
		tb.Fatalf("make an empty SQLite file: %v", err)
	}
	opts := EmptySQLite(tb)
	if err := os.WriteFile(opts.URL, migrated, 0o600); err != nil {
		tb.Fatalf("copy an empty SQLite file: %v", err)
	}
	return opts
}

// MasterKeys are the keys that seal the secrets of every database of the test process.
var MasterKeys = keys.New()

// EmptySQLite returns the options of a SQLite file that does not exist yet.
func EmptySQLite(tb testing.TB) store.Options {
	tb.Helper()
	return store.Options{URL: filepath.Join(tb.TempDir(), "fermata.db"), Keys: MasterKeys}
}

// template returns the bytes of a migrated SQLite file without rows.
var template = sync.OnceValues(func() (data []byte, err error) {
	dir, err := os.MkdirTemp("", "fermata-template-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "fermata.db")
	db, err := store.Open(context.Background(), store.Options{URL: path, Keys: MasterKeys})
	if err != nil {
		return nil, err
	}
	// Closing moves the whole write-ahead log into the one file.
	if err := errors.Join(db.Migrate(context.Background()), db.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

var schemas atomic.Int64

// Postgres returns the options of a PostgreSQL schema without rows. The schema is dropped after the test. If [Main]
// drops all schemas at the end, the next test gets this one, because creating a schema costs more than most tests. The
// stall limit is longer than the default of five seconds, because on a busy machine a write may stall for longer. If
// PostgreSQL is left out, the test is skipped.
func Postgres(tb testing.TB) store.Options {
	tb.Helper()
	if os.Getenv(PostgresEnv) == "none" {
		tb.Skip("PostgreSQL is left out: " + PostgresEnv + "=none")
	}
	url := postgresURL(tb)
	schema := schemaPool.take()
	if schema == "" {
		schema = newSchema()
	}
	tb.Cleanup(func() {
		if !schemaPool.putBack(url, schema) {
			dropSchema(tb, url, schema)
		}
	})
	return store.Options{URL: url, Schema: schema, MaxConns: 4, StallLimit: patience.Limit(), Keys: MasterKeys}
}

// EmptyPostgres returns the options of a PostgreSQL schema that does not exist yet. It is dropped after the test.
func EmptyPostgres(tb testing.TB) store.Options {
	tb.Helper()
	url, schema := postgresURL(tb), newSchema()
	tb.Cleanup(func() { dropSchema(tb, url, schema) })
	return store.Options{URL: url, Schema: schema, MaxConns: 4, StallLimit: patience.Limit(), Keys: MasterKeys}
}

func newSchema() string { return fmt.Sprintf("test_%d_%d", os.Getpid(), schemas.Add(1)) }

func postgresURL(tb testing.TB) string {
	tb.Helper()
	url := os.Getenv(PostgresEnv)
	if url == "" || url == "none" {
		tb.Fatalf("%s is not set: run scripts/with-postgres go test …, or make test; or set it to none to leave PostgreSQL out", PostgresEnv)
	}
	return url
}

func dropSchema(tb testing.TB, url, schema string) {
	if err := onPostgres(url, "DROP SCHEMA IF EXISTS "+schema+" CASCADE"); err != nil {
		tb.Errorf("drop schema %s: %v", schema, err)
	}
}

func onPostgres(url, statements string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience.Limit())
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statements)
	return errors.Join(err, conn.Close(ctx))
}

// Open opens and migrates a database, and closes it after the test.
func Open(tb testing.TB, opts store.Options) *store.DB {
	tb.Helper()
	db, err := store.Open(tb.Context(), opts)
	if err != nil {
		tb.Fatalf("open: %v", err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	if err := db.Migrate(tb.Context()); err != nil {
		tb.Fatalf("migrate: %v", err)
	}
	return db
}

// Package storetest opens real databases for tests: SQLite in a temporary
// file, and PostgreSQL in a schema of its own.
package storetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fermata-hq/fermata/internal/store"
)

// PostgresEnv names the variable with the address of a PostgreSQL that tests
// may use. The value "none" leaves PostgreSQL out on purpose.
const PostgresEnv = "FERMATA_TEST_POSTGRES"

// Each runs a test on both databases.
func Each(t *testing.T, test func(t *testing.T, opts store.Options)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, SQLite(t))
	})
	if os.Getenv(PostgresEnv) == "none" {
		t.Log("PostgreSQL is left out: " + PostgresEnv + "=none")
		return
	}
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, Postgres(t))
	})
}

// SQLite returns the options of a new SQLite file.
func SQLite(tb testing.TB) store.Options {
	tb.Helper()
	return store.Options{URL: filepath.Join(tb.TempDir(), "fermata.db")}
}

var schemas atomic.Int64

// Postgres returns the options of a new PostgreSQL schema, which is dropped
// after the test.
func Postgres(tb testing.TB) store.Options {
	tb.Helper()
	url := os.Getenv(PostgresEnv)
	if url == "" || url == "none" {
		tb.Fatalf("%s is not set: run scripts/with-postgres go test …, or make test; or set it to none to leave PostgreSQL out", PostgresEnv)
	}
	schema := fmt.Sprintf("test_%d_%d", os.Getpid(), schemas.Add(1))
	tb.Cleanup(func() { drop(tb, url, schema) })
	return store.Options{URL: url, Schema: schema, MaxConns: 4}
}

func drop(tb testing.TB, url, schema string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		tb.Errorf("drop schema %s: %v", schema, err)
		return
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+schema+" CASCADE"); err != nil {
		tb.Errorf("drop schema %s: %v", schema, err)
	}
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

// Clock is a clock that tests move.
type Clock struct{ ahead atomic.Int64 }

// Offset is for [store.Options.ClockOffset].
func (c *Clock) Offset() time.Duration { return time.Duration(c.ahead.Load()) }

// Advance moves the clock on.
func (c *Clock) Advance(d time.Duration) { c.ahead.Add(int64(d)) }

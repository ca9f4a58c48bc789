package process

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/patience"
)

// ControlEnv names the variable with the program that kills and starts the PostgreSQL of the tests.
const ControlEnv = "FERMATA_TEST_POSTGRES_CTL"

// RunOnEachDatabase runs a test on SQLite and on PostgreSQL. The test gets the flags with which a server opens its own,
// empty database.
func RunOnEachDatabase(t *testing.T, test func(t *testing.T, database []string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, Postgres(t)) })
}

// SQLite returns the flags of an empty data folder.
func SQLite(tb testing.TB) []string {
	tb.Helper()
	return []string{"--data", tb.TempDir()}
}

var schemas atomic.Int64

// Postgres returns the flags of an empty schema, which is dropped after the test. The test is skipped if PostgreSQL is
// left out on purpose.
func Postgres(tb testing.TB) []string {
	tb.Helper()
	address := os.Getenv(storetest.PostgresEnv)
	switch address {
	case "":
		tb.Fatalf("%s is not set: run scripts/with-postgres go test …, or make test; or set it to none to leave PostgreSQL out", storetest.PostgresEnv)
	case "none":
		tb.Skipf("PostgreSQL is left out: %s=none", storetest.PostgresEnv)
	}
	schema := fmt.Sprintf("process_%d_%d", os.Getpid(), schemas.Add(1))
	Execute(tb, address, "CREATE SCHEMA "+schema)
	tb.Cleanup(func() { Execute(tb, address, "DROP SCHEMA "+schema+" CASCADE") })
	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	query := u.Query()
	query.Set("search_path", schema)
	u.RawQuery = query.Encode()
	return []string{"--database", u.String(), "--master-key-file", filepath.Join(tb.TempDir(), "master.key")}
}

// OwnDatabase creates an empty PostgreSQL database that no other test uses. It returns its flags, its name, and a
// function that runs statements from another database of the server. The database is dropped after the test.
func OwnDatabase(tb testing.TB) (database []string, name string, run func(sql string)) {
	tb.Helper()
	database = Postgres(tb)
	outside := database[1]
	u, err := url.Parse(outside)
	if err != nil {
		tb.Fatal(err)
	}
	query := u.Query()
	name = query.Get("search_path")
	run = func(sql string) { tb.Helper(); Execute(tb, outside, sql) }
	run("CREATE DATABASE " + name)
	tb.Cleanup(func() { run("DROP DATABASE " + name + " WITH (FORCE)") })
	query.Del("search_path")
	u.Path, u.RawQuery = "/"+name, query.Encode()
	database[1] = u.String()
	return database, name, run
}

// Execute runs statements on a PostgreSQL.
func Execute(tb testing.TB, address, sql string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience.Limit())
	defer cancel()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, sql); err != nil {
		tb.Fatal(err)
	}
}

// KillPostgres kills every process of the PostgreSQL server, and starts the server again. The test is skipped if the
// tests do not own the server.
func KillPostgres(tb testing.TB) {
	tb.Helper()
	control := os.Getenv(ControlEnv)
	if control == "" {
		tb.Skipf("%s is not set: this PostgreSQL may not be killed", ControlEnv)
	}
	for _, verb := range []string{"kill", "start"} {
		cmd := exec.CommandContext(tb.Context(), control, verb) //nolint:gosec // the tests' own program
		if text, err := cmd.CombinedOutput(); err != nil {
			tb.Fatalf("%s the PostgreSQL: %v\n%s", verb, err, text)
		}
	}
}

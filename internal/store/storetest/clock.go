package storetest

import (
	"fmt"
	"net/url"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fermata-hq/fermata/internal/store"
)

// Clock is a clock that tests move.
type Clock struct {
	begun time.Time
	ahead atomic.Int64
}

// StandingClock returns a clock that stands still until it is moved. It is for [store.Options.Clock].
func StandingClock() *Clock { return &Clock{begun: time.Now()} }

// Now returns the time of a standing clock. It is for [store.Options.Clock].
func (c *Clock) Now() time.Time { return c.begun.Add(c.Offset()) }

// Offset returns how far the clock was moved. It is for [store.Options.ClockOffset].
func (c *Clock) Offset() time.Duration { return time.Duration(c.ahead.Load()) }

// Advance moves the clock forward, or back if d is negative.
func (c *Clock) Advance(d time.Duration) { c.ahead.Add(int64(d)) }

// DatabaseClock is a PostgreSQL database's own clock. It stands still until it is set, and is independent of the
// clocks of the processes.
type DatabaseClock struct {
	tb     testing.TB
	url    string
	schema string
	begun  time.Time
	passed atomic.Int64
}

// elapsed returns the time that has passed by the clock.
func (c *DatabaseClock) elapsed() time.Duration { return time.Duration(c.passed.Load()) }

// PostgresWithClock returns the options of an empty PostgreSQL schema and the clock that its sessions read. The
// sessions use the time zone. The result is false if PostgreSQL is left out.
func PostgresWithClock(tb testing.TB, zone string, at time.Time) (store.Options, *DatabaseClock, bool) {
	tb.Helper()
	if os.Getenv(PostgresEnv) == "none" {
		tb.Log("PostgreSQL is left out: " + PostgresEnv + "=none")
		return store.Options{}, nil, false
	}
	opts := EmptyPostgres(tb)
	c := &DatabaseClock{tb: tb, url: opts.URL, schema: opts.Schema, begun: at}
	c.run(fmt.Sprintf(`CREATE SCHEMA %[1]s; CREATE TABLE %[1]s.clock (at timestamptz NOT NULL);
		INSERT INTO %[1]s.clock VALUES ('%[2]s');
		CREATE FUNCTION %[1]s.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT at FROM %[1]s.clock'`,
		c.schema, at.Format(time.RFC3339Nano)))
	// PostgreSQL looks for its own functions first, unless the search path names pg_catalog later.
	u, err := url.Parse(opts.URL)
	if err != nil {
		tb.Fatal(err)
	}
	query := u.Query()
	query.Set("search_path", c.schema+",pg_catalog")
	query.Set("timezone", zone)
	u.RawQuery = query.Encode()
	return store.Options{URL: u.String(), MaxConns: opts.MaxConns, Elapsed: c.elapsed, Keys: opts.Keys}, c, true
}

// Set lets time pass until the clock shows the instant.
func (c *DatabaseClock) Set(at time.Time) {
	c.tb.Helper()
	c.passed.Store(int64(at.Sub(c.begun)))
	c.run(fmt.Sprintf("UPDATE %s.clock SET at = '%s'", c.schema, at.Format(time.RFC3339Nano)))
}

func (c *DatabaseClock) run(statements string) {
	c.tb.Helper()
	if err := onPostgres(c.url, statements); err != nil {
		c.tb.Fatalf("the database's clock: %v", err)
	}
}

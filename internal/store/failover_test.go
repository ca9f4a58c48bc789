package store_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// failover is a PostgreSQL schema that can behave as if a standby had taken over from its server.
type failover struct {
	t     *testing.T
	admin *pgx.Conn
	opts  store.Options
}

// newFailover makes an empty schema that says itself when its server started: PostgreSQL finds functions of the schema
// first, because the search path names pg_catalog later.
func newFailover(t *testing.T) *failover {
	t.Helper()
	if storetest.Postgres(t); t.Skipped() {
		return nil
	}
	opts := storetest.EmptyPostgres(t)
	u, err := url.Parse(opts.URL)
	must(t, err)
	query := u.Query()
	query.Set("search_path", opts.Schema+",pg_catalog")
	u.RawQuery = query.Encode()
	admin, err := pgx.Connect(t.Context(), opts.URL)
	must(t, err)
	t.Cleanup(func() { must(t, admin.Close(context.WithoutCancel(t.Context()))) })
	f := &failover{t: t, admin: admin, opts: store.Options{URL: u.String(), MaxConns: opts.MaxConns, Keys: opts.Keys}}
	f.run("CREATE SCHEMA " + opts.Schema)
	f.run("SET search_path = " + opts.Schema)
	f.run("CREATE TABLE server AS SELECT pg_catalog.pg_postmaster_start_time() AS started")
	f.run("CREATE FUNCTION pg_postmaster_start_time() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT started FROM " + opts.Schema + ".server'")
	return f
}

func (f *failover) run(sql string) {
	f.t.Helper()
	_, err := f.admin.Exec(f.t.Context(), sql)
	must(f.t, err)
}

// open opens the database as one more replica.
func (f *failover) open() *store.DB {
	f.t.Helper()
	db, err := store.Open(f.t.Context(), f.opts)
	must(f.t, err)
	f.t.Cleanup(func() { must(f.t, db.Close()) })
	must(f.t, db.Migrate(f.t.Context()))
	return db
}

// takeOver lets another server take the place of the first.
func (f *failover) takeOver() {
	f.t.Helper()
	f.run("UPDATE server SET started = started + interval '1 hour'")
}

// loseLast removes the last event, as a standby does not have it that was behind.
func (f *failover) loseLast() {
	f.t.Helper()
	f.run(`WITH last AS (DELETE FROM events e USING workspaces w WHERE w.id = e.workspace_id AND e.seq = w.event_seq RETURNING e.workspace_id, e.seq, e.prev_hash)
		UPDATE workspaces SET event_seq = last.seq - 1, event_hash = last.prev_hash FROM last WHERE id = last.workspace_id`)
}

// A standby that lacks the last event takes over, and a replica that never saw this event writes more events than were
// lost. The replica that acknowledged the event refuses the database all the same.
func TestLossIsNoticedAfterOthersWroteOverIt(t *testing.T) {
	t.Parallel()
	f := newFailover(t)
	first, second := f.open(), f.open()
	must(t, writeEvent(t, second))
	must(t, writeEvent(t, first))
	f.loseLast()
	f.takeOver()
	for range 3 {
		must(t, writeEvent(t, second))
	}
	err := writeEvent(t, first)
	code(t, err, fermata.CodeUnavailable)
	if !strings.Contains(err.Error(), "another history") {
		t.Errorf("the error is %v", err)
	}
}

// A standby that has everything takes over, and the replicas go on.
func TestFailoverWithoutALossGoesOn(t *testing.T) {
	t.Parallel()
	f := newFailover(t)
	first, second := f.open(), f.open()
	must(t, writeEvent(t, first))
	must(t, writeEvent(t, second))
	f.takeOver()
	for range 2 {
		must(t, writeEvent(t, second))
		must(t, writeEvent(t, first))
	}
	if n := verifyChain(t, first); n != 6 {
		t.Errorf("there are %d events, not 6", n)
	}
}

package store_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/patience"
)

// A client that was frozen while it sent a batch is not idle for PostgreSQL, so no limit of the server ends it. The
// first writer whose wait timed out ends it.
func TestPostgresBatchThatWasCutHoldsNobody(t *testing.T) {
	t.Parallel()
	opts := storetest.Postgres(t)
	opts.StallLimit = 0
	db := storetest.Open(t, opts)
	must(t, writeEvent(t, db))
	cut := sendHalfABatch(t, opts.URL, opts.Schema)
	must(t, writeEvent(t, db))
	if _, err := cut.Exec(t.Context(), "COMMIT").ReadAll(); err == nil {
		t.Error("the batch that was cut went on")
	}
}

// The process waits for a slow read on PostgreSQL, because the server answers pings meanwhile.
func TestPostgresSlowReadIsWaitedFor(t *testing.T) {
	t.Parallel()
	opts := storetest.Postgres(t)
	db := storetest.Open(t, opts)
	must(t, writeEvent(t, db))
	conn := connect(t, opts.URL, opts.Schema)
	_, err := conn.Exec(t.Context(), "BEGIN; LOCK TABLE workspaces").ReadAll()
	must(t, err)
	released := make(chan error, 1)
	began := time.Now()
	go func() {
		_, err := conn.Exec(t.Context(), "SELECT pg_sleep(5); COMMIT").ReadAll()
		released <- err
	}()
	_, err = db.Reader(t.Context(), "").Workspaces()
	must(t, err)
	if took := time.Since(began); took < 4*time.Second {
		t.Errorf("the read took only %s", took)
	}
	must(t, patience.Receive(t, "the session ends", released))
}

// sendHalfABatch locks the counter row, and does not send the end of the batch.
func sendHalfABatch(t *testing.T, address, schema string) *pgconn.PgConn {
	t.Helper()
	conn := connect(t, address, schema)
	batch := conn.StartPipeline(context.Background())
	for _, text := range []string{"BEGIN", "SELECT 1 FROM workspaces WHERE id = 'default' FOR UPDATE"} {
		batch.SendQueryParams(text, nil, nil, nil, nil)
	}
	batch.SendFlushRequest()
	must(t, batch.Flush())
	for range 2 {
		results, err := batch.GetResults()
		must(t, err)
		must(t, results.(*pgconn.ResultReader).Read().Err)
	}
	return conn
}

// connect connects to a schema without the store.
func connect(t *testing.T, address, schema string) *pgconn.PgConn {
	t.Helper()
	u, err := url.Parse(address)
	must(t, err)
	query := u.Query()
	query.Set("search_path", schema)
	u.RawQuery = query.Encode()
	conn, err := pgconn.Connect(t.Context(), u.String())
	must(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

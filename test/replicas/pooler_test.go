package replicas

import (
	"context"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

// Replicas that start one after another behind a pooler leave no lock on its connections, for
// which a later replica would wait.
func TestStartingBehindAPoolerLeavesNoLock(t *testing.T) {
	t.Parallel()
	database, behind := process.StartPooler(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit())
	defer cancel()
	// Other work takes the connections in turn.
	work, stop := context.WithCancel(ctx)
	var busy sync.WaitGroup
	defer busy.Wait()
	defer stop()
	for range 4 {
		config, err := pgx.ParseConfig(database[1])
		if err != nil {
			t.Fatal(err)
		}
		config.DefaultQueryExecMode = pgx.QueryExecModeExec
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			t.Fatal(err)
		}
		busy.Go(func() {
			defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it only keeps a connection busy
			for work.Err() == nil {
				_, _ = conn.Exec(work, "SELECT pg_sleep(0.001)")
			}
		})
	}
	for n := range 10 {
		db, err := store.Open(ctx, store.Options{URL: database[1], Keys: storetest.MasterKeys})
		if err != nil {
			t.Fatal(err)
		}
		err = db.Migrate(ctx)
		_ = db.Close()
		if err != nil {
			t.Fatalf("start %d: %v", n+1, err)
		}
	}
	direct, err := pgx.Connect(ctx, behind)
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it only reads
	var left int
	err = direct.QueryRow(ctx, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())").Scan(&left)
	if err != nil || left > 0 {
		t.Errorf("%d locks are left (%v)", left, err)
	}
}

package store_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/patience"
)

// Long reads leave half of the connections to others. One that waits for its turn ends with its caller.
func TestLongReadsLeaveConnections(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		opts.MaxConns = 4
		db := storetest.Open(t, opts)
		r := db.Reader(t.Context(), store.DefaultWorkspace)
		const reads = 6
		runs, release, ended := make(chan struct{}), make(chan struct{}), make(chan error, reads)
		for range reads {
			go func() { ended <- store.HoldLongRead(r, runs, release) }()
		}
		for range 2 {
			patience.Receive(t, "a long read runs", runs)
		}
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() { left <- store.HoldLongRead(db.Reader(ctx, store.DefaultWorkspace), nil, nil) }()
		leave()
		if err := patience.Receive(t, "the caller leaves", left); !errors.Is(err, context.Canceled) {
			t.Errorf("the read whose caller left returned %v", err)
		}
		for range 2 {
			_, err := r.Head()
			must(t, err)
		}
		must(t, db.Write(t.Context(), store.DefaultWorkspace, func(*store.Tx) error { return nil }))
		select {
		case <-runs:
			t.Error("a third long read runs beside two")
		default:
		}
		close(release)
		for range reads - 2 {
			patience.Receive(t, "a long read runs", runs)
		}
		for range reads {
			must(t, patience.Receive(t, "a long read ends", ended))
		}
	})
}

// A read that takes too long ends with an error that says what to do. Its connection can be used again.
func TestLongReadsHaveATimeLimit(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		opts.LongReadLimit = 50 * time.Millisecond
		db := storetest.Open(t, opts)
		r := db.Reader(t.Context(), store.DefaultWorkspace)
		for range 9 {
			err := store.ReadForEver(r)
			var e *fermata.Error
			if !errors.As(err, &e) || e.Code != fermata.CodeUnavailable || !strings.Contains(e.Hint, "narrow the list") {
				t.Fatalf("the read returned %v", err)
			}
		}
		_, err := r.Head()
		must(t, err)
		if trouble := db.Trouble(); trouble != nil {
			t.Errorf("the database counts as in trouble: %v", trouble)
		}
	})
}

// The write-ahead log is short again after a reader has kept it from being copied. The server goes on, also while the
// short log holds pages that the file of the database does not have yet.
func TestTheLogIsCutAfterALongReader(t *testing.T) {
	t.Parallel()
	opts := storetest.SQLite(t)
	db := storetest.Open(t, opts)
	runs, release, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- store.HoldLongRead(db.Reader(t.Context(), store.DefaultWorkspace), runs, release)
	}()
	patience.Receive(t, "the reader reads", runs)
	write := func(size int) {
		must(t, db.Write(t.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
			tx.Append(&fermata.Event{Type: fermata.EventPolicyChanged, Actor: fermata.SystemActor, Data: []byte(`{"x":"` + strings.Repeat("x", size) + `"}`)})
			return nil
		}))
	}
	for range 24 {
		write(1 << 20)
	}
	store.Inspect(t.Context(), db)
	close(release)
	must(t, patience.Receive(t, "the reader ends", ended))
	for range 24 {
		write(1)
	}
	info, err := os.Stat(opts.URL + "-wal")
	must(t, err)
	if info.Size() > 16<<20 {
		t.Errorf("the log has %d bytes", info.Size())
	}
	write(1 << 20)
	store.Inspect(t.Context(), db)
	if trouble := db.Trouble(); trouble != nil {
		t.Errorf("the trouble is %v", trouble)
	}
	write(1)
}

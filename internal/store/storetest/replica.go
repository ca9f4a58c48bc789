package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/test/patience"
)

// replicaTests are tests with several handles on one database.
var replicaTests = map[string]func(*suite){
	"write at the same time": replicasWrite,
	"learn of commits":       replicasHear,
	"notice an end":          replicasNotice,
	"migrate together":       replicasMigrate,
	"schemas are used again": replicasEmptied,
}

func (s *suite) skipUnlessPostgres() {
	if s.db.Dialect() != "postgres" {
		s.Skip("one process uses a SQLite file")
	}
}

func replicasWrite(s *suite) {
	s.skipUnlessPostgres()
	const writers, writes = 6, 20
	counter := s.addTask(func(*fermata.Task) {})
	handles := []*store.DB{s.db, s.config.Open(s.T, s.opts), s.config.Open(s.T, s.opts)}
	var wg sync.WaitGroup
	for i, db := range handles {
		for j := range writers {
			wg.Go(func() {
				for k := range writes {
					err := db.Write(s.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
						t, err := tx.Task(counter.ID)
						if err != nil {
							return err
						}
						t.Attempts++
						tx.SaveTask(t)
						appendMark(tx, fmt.Sprint(i, j, k))
						if k%5 == 4 {
							return errRefused
						}
						return nil
					})
					if (k%5 == 4) != errors.Is(err, errRefused) {
						s.Errorf("replica %d: %v", i, err)
					}
				}
			})
		}
	}
	wg.Wait()
	committed := len(handles) * writers * writes * 4 / 5
	s.checkEqual(committed, len(s.verify()))
	t, err := s.read().Task(counter.ID)
	s.checkNoError(err)
	s.checkEqual(committed, t.Attempts)
}

func replicasHear(s *suite) {
	s.skipUnlessPostgres()
	other := s.config.Open(s.T, s.opts)
	ctx, cancel := context.WithCancel(s.Context())
	heard, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- s.db.Listen(ctx, func() {
			select {
			case heard <- struct{}{}:
			case <-ctx.Done():
			}
		})
	}()
	// A commit from before is not announced, so the listener looks once when it begins.
	patience.Receive(s, "listening begins", heard)
	s.checkNoError(other.Notify(s.Context()))
	patience.Receive(s, "the commit is heard", heard)
	cancel()
	if err := patience.Receive(s, "listening ends", ended); err != nil && !errors.Is(err, context.Canceled) {
		s.Errorf("listen: %v", err)
	}
}

// replicasNotice checks that other processes see a process from the moment when
// it listens until it stops listening.
func replicasNotice(s *suite) {
	s.skipUnlessPostgres()
	other := s.config.Open(s.T, s.opts)
	gone := func() []string {
		names, err := other.GoneProcesses(s.Context(), []string{s.db.ProcessName(), "nobody"})
		s.checkNoError(err)
		return names
	}
	s.checkEqual([]string{s.db.ProcessName(), "nobody"}, gone())
	ctx, cancel := context.WithCancel(s.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.db.Listen(ctx, func() {}) }()
	patience.Await(s, "the process is seen", s.db.IsPresent)
	s.checkEqual([]string{"nobody"}, gone())
	cancel()
	if err := patience.Receive(s, "listening ends", ended); err != nil && !errors.Is(err, context.Canceled) {
		s.Errorf("listen: %v", err)
	}
	s.checkEqual(false, s.db.IsPresent())
	patience.Await(s, "the process is gone", func() bool { return len(gone()) == 2 })
	s.checkEqual(false, other.IsPresent())
}

func replicasMigrate(s *suite) {
	s.skipUnlessPostgres()
	opts := EmptyPostgres(s.T)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			db, err := store.Open(s.Context(), opts)
			if err != nil {
				s.Errorf("open: %v", err)
				return
			}
			if err := errors.Join(db.Migrate(s.Context()), db.Migrate(s.Context()), db.Close()); err != nil {
				s.Errorf("migrate: %v", err)
			}
		})
	}
	wg.Wait()
	s.checkEqual(0, len(verify(s, s.config.Open(s.T, opts))))
}

// replicasEmptied checks that a schema that the next test takes contains no row
// of this test. A table that a migration adds must be emptied as well.
func replicasEmptied(s *suite) {
	s.skipUnlessPostgres()
	conn, err := pgx.Connect(s.Context(), s.opts.URL)
	s.checkNoError(err)
	defer func() { s.checkNoError(conn.Close(s.Context())) }()
	rows, err := conn.Query(s.Context(), "SELECT tablename::text FROM pg_tables WHERE schemaname = $1", s.opts.Schema)
	s.checkNoError(err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	s.checkNoError(err)
	for _, table := range tables {
		if table != "goose_db_version" && table != "key_check" && !strings.Contains(emptySchemaSQL, "DELETE FROM "+table) {
			s.Errorf("the rows of %s stay", table)
		}
	}
}

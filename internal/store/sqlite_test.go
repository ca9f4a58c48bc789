package store_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

func TestSQLiteVersion(t *testing.T) {
	t.Parallel()
	for version, ok := range map[string]bool{
		"3.51.3": true, "3.52.0": true, "4.0.0": true, "3.51.2": false, "3.7.0": false, "3.46.1": false, "": false, "x.y.z": false,
	} {
		if err := store.CheckSQLiteVersion(version); (err == nil) != ok {
			t.Errorf("version %q: %v", version, err)
		}
	}
}

func TestSQLiteSettingsAreReadBack(t *testing.T) {
	t.Parallel()
	for pragma, unsafe := range map[string]string{"synchronous": "1", "foreign_keys": "0", "busy_timeout": "1", "journal_mode": "DELETE"} {
		t.Run(pragma, func(t *testing.T) {
			t.Parallel()
			db := storetest.Open(t, storetest.SQLite(t))
			must(t, store.Recheck(db))
			must(t, store.ExecWriter(t.Context(), db, "PRAGMA "+pragma+" = "+unsafe))
			if store.Recheck(db) == nil {
				t.Error("the unsafe setting was taken")
			}
		})
	}
}

func TestSQLiteReadersOnlyRead(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.SQLite(t))
	for pragma, want := range map[string]string{"query_only": "1", "synchronous": "2", "foreign_keys": "1", "journal_mode": "wal"} {
		if got, err := store.PragmaOfReader(t.Context(), db, pragma); err != nil || got != want {
			t.Errorf("%s is %q, %v, want %s", pragma, got, err, want)
		}
	}
}

// The number of kept statements is bounded, although the texts of lists differ
// with every combination of filters and limits.
func TestSQLiteKeepsSoManyStatements(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.SQLite(t))
	for n := range store.MaxPrepared + 50 {
		_, err := db.Reader(t.Context(), store.DefaultWorkspace).Tasks(store.TaskFilter{Limit: n + 1})
		must(t, err)
	}
	if n := store.Prepared(db); n != store.MaxPrepared {
		t.Errorf("%d statements are kept", n)
	}
}

func TestSQLitePathMayHoldAnything(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b.db", "50%.db", "a?mode=memory.db", "a#b.db", "żółw&x=1.db", ":memory:", "%20.db"} {
		path := filepath.Join(t.TempDir(), name)
		db := storetest.Open(t, store.Options{URL: "sqlite://" + path, Keys: storetest.MasterKeys})
		must(t, writeEvent(t, db))
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		must(t, db.Close())
		if n := verifyChain(t, storetest.Open(t, store.Options{URL: path, Keys: storetest.MasterKeys})); n != 1 {
			t.Errorf("%s: %d events", name, n)
		}
	}
}

func TestSQLiteOutOfReachIsUnavailable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, []byte("this is a text and no database at all, however long one looks at it"), 0o600))
	for name, path := range map[string]string{"below a file": filepath.Join(file, "x.db"), "a folder": dir, "no database": file} {
		_, err := store.Open(t.Context(), store.Options{URL: path})
		if fermata.CodeOf(err) != fermata.CodeUnavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSQLiteHeals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ hurt, heal string }{
		"full":      {"PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1073741823"},
		"read-only": {"PRAGMA query_only = 1", "PRAGMA query_only = 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := storetest.Open(t, storetest.SQLite(t))
			must(t, writeEvent(t, db))
			must(t, store.ExecWriter(t.Context(), db, c.hurt))
			code(t, fill(t, db), fermata.CodeUnavailable)
			code(t, fill(t, db), fermata.CodeUnavailable)
			must(t, db.Ping(t.Context()))
			must(t, store.ExecWriter(t.Context(), db, c.heal))
			must(t, fill(t, db))
			if n := verifyChain(t, db); n != 2 {
				t.Errorf("%d events, want those of the writes that were acknowledged", n)
			}
		})
	}
}

// fill writes more than fits into the existing pages.
func fill(t *testing.T, db *store.DB) error {
	t.Helper()
	return db.Write(t.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
		tx.Append(&fermata.Event{Type: fermata.EventPolicyChanged, Actor: fermata.SystemActor, Data: make([]byte, 1<<20)})
		return nil
	})
}

// TestSQLiteReadersDoNotBlockWriters checks that writes succeed while reads are
// under way on every connection for reads.
func TestSQLiteReadersDoNotBlockWriters(t *testing.T) {
	t.Parallel()
	opts := storetest.SQLite(t)
	opts.MaxConns = 2
	db := storetest.Open(t, opts)
	must(t, writeEvent(t, db))
	must(t, writeEvent(t, db))
	for range opts.MaxConns {
		stop, err := store.OpenRows(t.Context(), db, "SELECT seq FROM events")
		must(t, err)
		defer func() { must(t, stop()) }()
	}
	must(t, writeEvent(t, db))
	err := db.Write(t.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
		_, err := tx.Projects()
		return err
	})
	must(t, err)
}

func TestSQLiteMigrationThatIsStoppedKeepsTheConnection(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.SQLite(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if db.Migrate(ctx) == nil {
		t.Error("a migration that was stopped succeeded")
	}
	must(t, writeEvent(t, db))
}

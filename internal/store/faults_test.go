package store_test

import (
	"context"
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/internal/store/storetest/faultdisk"
	"github.com/fermata-hq/fermata/test/patience"
)

// openChecked opens a database as a server does: it checks the database before it migrates it.
func openChecked(t *testing.T, opts store.Options) (*store.DB, error) {
	t.Helper()
	db, err := store.Open(t.Context(), opts)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.Check(t.Context()); err != nil {
		return db, err
	}
	return db, db.Migrate(t.Context())
}

func mustOpenChecked(t *testing.T, opts store.Options) *store.DB {
	t.Helper()
	db, err := openChecked(t, opts)
	must(t, err)
	return db
}

func faultyOptions(t *testing.T) store.Options {
	t.Helper()
	faultdisk.Register()
	return store.WithVFS(storetest.SQLite(t), faultdisk.Name)
}

// After the first failed call to the disk, nothing is written until the database is opened again and checked. Then
// everything that was acknowledged is there.
func TestSQLiteStopsAtTheFirstFailureOfTheDisk(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct {
		suffix string
		fault  faultdisk.Fault
	}{
		"fsync of the log":      {"-wal", faultdisk.FailSync},
		"write of the log":      {"-wal", faultdisk.FailWrite},
		"fsync of the database": {"", faultdisk.FailSync},
		"write of the database": {"", faultdisk.FailWrite},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := faultyOptions(t)
			db := mustOpenChecked(t, opts)
			must(t, writeEvent(t, db))
			faultdisk.Shared.Fail(opts.URL, fault.suffix, fault.fault, true)
			acknowledged := writeUntilRefused(t, db) + 1
			trouble := db.Trouble()
			if trouble == nil || !trouble.Stopped || !strings.Contains(trouble.Reason, "the disk failed") {
				t.Fatalf("the trouble is %+v", trouble)
			}
			for range 3 {
				code(t, writeEvent(t, db), fermata.CodeUnavailable)
			}
			if n := faultdisk.Shared.Failed(opts.URL); n != 1 {
				t.Errorf("%d calls failed", n)
			}
			must(t, db.Close())
			again := mustOpenChecked(t, opts)
			if n := verifyChain(t, again); n < acknowledged {
				t.Errorf("%d events of %d that were acknowledged", n, acknowledged)
			}
			must(t, writeEvent(t, again))
		})
	}
}

// writeUntilRefused returns how many writes were acknowledged before the first refused one. Meanwhile the log becomes
// long and is copied into the database.
func writeUntilRefused(t *testing.T, db *store.DB) (acknowledged int) {
	t.Helper()
	for n := range 2 * store.CheckpointPages {
		if err := writeEvent(t, db); err != nil {
			code(t, err, fermata.CodeUnavailable)
			return n
		}
		if db.Trouble() != nil {
			return n + 1
		}
	}
	t.Fatal("the disk did not fail")
	return 0
}

// This test is the control: a program that uses plain SQLite gets no error when a checkpoint fails, and continues.
func TestPlainSQLiteHidesAFailedCheckpoint(t *testing.T) {
	t.Parallel()
	faultdisk.Register()
	path := filepath.Join(t.TempDir(), "plain.db")
	db, err := sql.Open("sqlite", "file:"+path+"?vfs="+faultdisk.Name+"&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=wal_autocheckpoint(1)")
	must(t, err)
	defer func() { must(t, db.Close()) }()
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(t.Context(), "CREATE TABLE t (x)")
	must(t, err)
	faultdisk.Shared.Fail(path, "", faultdisk.FailSync, true)
	for range 20 {
		_, err = db.ExecContext(t.Context(), "INSERT INTO t VALUES (1)")
		must(t, err)
	}
	if n := faultdisk.Shared.Failed(path); n != 1 {
		t.Errorf("%d calls failed", n)
	}
}

// A log that was cut loses its contents. The next start reports this, and serves only after an operator has accepted
// the loss.
func TestSQLiteWithACutLogIsRefused(t *testing.T) {
	t.Parallel()
	opts := storetest.SQLite(t)
	db := mustOpenChecked(t, opts)
	const acknowledged = 60
	for range acknowledged {
		must(t, writeEvent(t, db))
	}
	opts = copyAsKilled(t, db, opts)
	cutBy(t, opts.URL+"-wal", 4)

	behind, err := openChecked(t, opts)
	code(t, err, fermata.CodeUnavailable)
	if !strings.Contains(err.Error(), "the database is behind what was acknowledged") || !strings.Contains(err.Error(), "event 60 was acknowledged") {
		t.Errorf("the error is %v", err)
	}
	losses, err := behind.Losses(t.Context())
	must(t, err)
	if len(losses) != 1 || losses[0].Acknowledged.Seq != acknowledged || losses[0].Found.Seq >= acknowledged {
		t.Fatalf("the losses are %+v", losses)
	}
	must(t, behind.AcceptLoss(t.Context(), losses, func(store.Loss) *fermata.Event {
		return &fermata.Event{Type: fermata.EventLossAccepted, Actor: fermata.SystemActor}
	}))
	must(t, behind.Close())
	accepted := mustOpenChecked(t, opts)
	must(t, writeEvent(t, accepted))
	if n := verifyChain(t, accepted); int64(n) != losses[0].Found.Seq+2 { // the acceptance, and one more
		t.Errorf("%d events after the loss of all behind %d", n, losses[0].Found.Seq)
	}
}

// An event that was acknowledged and removed later by the policy is no loss, though this process did not see its removal.
func TestARemovedEventIsNoLoss(t *testing.T) {
	t.Parallel()
	opts := storetest.SQLite(t)
	db := mustOpenChecked(t, opts)
	for range 3 {
		must(t, writeEvent(t, db))
	}
	must(t, db.Close())
	elsewhere := opts
	elsewhere.HeadFile = filepath.Join(t.TempDir(), "another.head")
	other := mustOpenChecked(t, elsewhere)
	for range 3 {
		must(t, writeEvent(t, other))
	}
	must(t, other.Write(t.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
		tx.DeleteEvents([]int64{2, 3, 4})
		tx.SaveTrimmedRange(fermata.SignedTrimmedRange{TrimmedRange: fermata.TrimmedRange{First: 1, Last: 4, Kept: 1}})
		return nil
	}))
	must(t, other.Close())
	db, err := openChecked(t, opts)
	must(t, err)
	must(t, writeEvent(t, db))
	must(t, db.Close())
	storetest.Exec(t, opts, "UPDATE workspaces SET event_seq = 6")
	_, err = openChecked(t, opts)
	code(t, err, fermata.CodeUnavailable)
}

// A process that is killed loses nothing, and no loss is reported.
func TestSQLiteThatWasKilledOpens(t *testing.T) {
	t.Parallel()
	opts := storetest.SQLite(t)
	for n := range 5 {
		db := mustOpenChecked(t, opts)
		if got := verifyChain(t, db); got != 3*n {
			t.Errorf("%d events, want %d", got, 3*n)
		}
		for range 3 {
			must(t, writeEvent(t, db))
		}
		opts = copyAsKilled(t, db, opts)
	}
}

// A restored backup lacks acknowledged events, and another database in its place has another history. Both are refused.
func TestSQLiteThatWasReplacedIsRefused(t *testing.T) {
	t.Parallel()
	opts := storetest.SQLite(t)
	db := mustOpenChecked(t, opts)
	must(t, writeEvent(t, db))
	must(t, db.Close())
	backup, err := os.ReadFile(opts.URL)
	must(t, err)
	db = mustOpenChecked(t, opts)
	must(t, writeEvent(t, db))
	must(t, db.Close())

	must(t, os.WriteFile(opts.URL, backup, 0o600))
	_, err = openChecked(t, opts)
	code(t, err, fermata.CodeUnavailable)

	other := storetest.SQLite(t)
	db = mustOpenChecked(t, other)
	for range 3 {
		must(t, writeEvent(t, db))
	}
	must(t, db.Close())
	data, err := os.ReadFile(other.URL)
	must(t, err)
	must(t, os.WriteFile(opts.URL, data, 0o600))
	_, err = openChecked(t, opts)
	if err == nil || !strings.Contains(err.Error(), "another history") {
		t.Errorf("the error is %v", err)
	}
}

// The server stops if a file is cut, emptied, removed or replaced while the server uses it.
func TestSQLiteThatIsDamagedWhileItRunsStops(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, path string){
		"halved":   func(t *testing.T, path string) { t.Helper(); cutBy(t, path, 2) },
		"emptied":  func(t *testing.T, path string) { t.Helper(); must(t, os.Truncate(path, 0)) },
		"removed":  func(t *testing.T, path string) { t.Helper(); must(t, os.Remove(path)) },
		"cut log":  func(t *testing.T, path string) { t.Helper(); cutBy(t, path+"-wal", 2) },
		"replaced": replaceFile,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := storetest.SQLite(t)
			db := mustOpenChecked(t, opts)
			must(t, writeEvent(t, db))
			store.Inspect(t.Context(), db)
			if trouble := db.Trouble(); trouble != nil {
				t.Fatalf("before the damage: %v", trouble)
			}
			damage(t, opts.URL)
			store.Inspect(t.Context(), db)
			trouble := db.Trouble()
			if trouble == nil || !trouble.Malformed || !trouble.Stopped {
				t.Fatalf("the trouble is %+v", trouble)
			}
			code(t, writeEvent(t, db), fermata.CodeUnavailable)
		})
	}
}

// Correct changes of the files by other programs do not stop the server.
func TestSQLiteThatIsCheckpointedByOthersGoesOn(t *testing.T) {
	t.Parallel()
	opts := storetest.SQLite(t)
	db := mustOpenChecked(t, opts)
	must(t, writeEvent(t, db))
	store.Inspect(t.Context(), db)
	other := storetest.OpenFile(t, opts.URL)
	_, err := other.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)")
	must(t, err)
	_, err = other.ExecContext(t.Context(), "VACUUM")
	must(t, err)
	must(t, other.Close())
	store.Inspect(t.Context(), db)
	if trouble := db.Trouble(); trouble != nil {
		t.Errorf("the trouble is %v", trouble)
	}
	must(t, writeEvent(t, db))
}

// A database that was damaged while no server used it is not served.
func TestSQLiteThatIsDamagedAtRestIsRefused(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, path string){
		"halved":      func(t *testing.T, path string) { t.Helper(); cutBy(t, path, 2) },
		"overwritten": overwrite,
	} {
		for _, killed := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				opts := storetest.SQLite(t)
				db := mustOpenChecked(t, opts)
				must(t, writeEvent(t, db))
				if killed {
					opts = copyAsKilled(t, db, opts)
				} else {
					must(t, db.Close())
				}
				damage(t, opts.URL)
				_, err := openChecked(t, opts)
				code(t, err, fermata.CodeUnavailable)
				if err == nil || !strings.Contains(err.Error(), "malformed") {
					t.Errorf("the error is %v", err)
				}
			})
		}
	}
}

// The watch writes a row of its own, and reports the beginning and the end of a trouble.
func TestWatchTellsOfTrouble(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.SQLite(t))
	ctx, stop := context.WithCancel(t.Context())
	told, ended := make(chan *store.Trouble), make(chan struct{})
	go func() {
		defer close(ended)
		db.Watch(ctx, func(trouble *store.Trouble) {
			select {
			case told <- trouble:
			case <-ctx.Done():
			}
		})
	}()
	must(t, store.ExecWriter(t.Context(), db, "PRAGMA query_only = 1"))
	code(t, writeEvent(t, db), fermata.CodeUnavailable)
	if trouble := receive(t, told); trouble == nil || !strings.Contains(trouble.Reason, "read-only") {
		t.Errorf("told about %+v", trouble)
	}
	must(t, store.ExecWriter(t.Context(), db, "PRAGMA query_only = 0"))
	if trouble := receive(t, told); trouble != nil {
		t.Errorf("told about %+v after it was over", trouble)
	}
	if db.Trouble() != nil || verifyChain(t, db) != 0 {
		t.Errorf("the trouble is %v, with %d events", db.Trouble(), verifyChain(t, db))
	}
	stop()
	patience.Receive(t, "the watch ends", ended)
}

func receive(t *testing.T, told <-chan *store.Trouble) *store.Trouble {
	t.Helper()
	return patience.Receive(t, "something is told", told)
}

// copyAsKilled returns the options of a copy of the files, in the state in which a process that is killed leaves them.
func copyAsKilled(t *testing.T, db *store.DB, opts store.Options) store.Options {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.Base(opts.URL))
	for _, suffix := range []string{"", "-wal", ".head"} {
		data, err := os.ReadFile(opts.URL + suffix)
		must(t, err)
		must(t, os.WriteFile(path+suffix, data, 0o600))
	}
	must(t, db.Close())
	opts.URL = path
	return opts
}

// cutBy cuts a file to one of its parts.
func cutBy(t *testing.T, path string, parts int64) {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	must(t, os.Truncate(path, info.Size()/parts))
}

// overwrite writes nonsense into the file, after its first page.
func overwrite(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	for at := 4096; at < len(data); at++ {
		data[at] = byte(at * 7)
	}
	must(t, os.WriteFile(path, data, 0o600))
}

func replaceFile(t *testing.T, path string) {
	t.Helper()
	from, err := os.Open(path)
	must(t, err)
	defer func() { _ = from.Close() }()
	to, err := os.Create(path + ".new")
	must(t, err)
	_, err = io.Copy(to, from)
	must(t, err)
	must(t, to.Close())
	must(t, os.Rename(path+".new", path))
}

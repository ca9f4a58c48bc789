package store_test

import (
	"bytes"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// No other user of the machine can read a file of the database, whatever the permissions of the folder.
func TestFilesOfTheDatabaseAreTheOwnersAlone(t *testing.T) {
	t.Parallel()
	opts := storetest.EmptySQLite(t)
	folder := filepath.Dir(opts.URL)
	must(t, os.Chmod(folder, 0o755))
	db, err := store.Open(t.Context(), opts)
	must(t, err)
	must(t, db.Check(t.Context()))
	must(t, db.Migrate(t.Context()))
	wantPrivate(t, folder)
	must(t, db.Close())
	wantPrivate(t, folder)
}

// A start that finds too wide permissions corrects them, and logs this.
func TestWideRightsAreMendedAndTold(t *testing.T) {
	t.Parallel()
	opts := storetest.SQLite(t)
	folder := filepath.Dir(opts.URL)
	for _, suffix := range []string{"", "-wal", "-shm", ".head"} {
		file, err := os.OpenFile(opts.URL+suffix, os.O_CREATE|os.O_RDWR, 0o600)
		must(t, err)
		must(t, file.Chmod(0o644))
		must(t, file.Close())
	}
	var log bytes.Buffer
	opts.Log = slog.New(slog.NewTextHandler(&log, nil))
	db, err := store.Open(t.Context(), opts)
	must(t, err)
	must(t, db.Check(t.Context()))
	wantPrivate(t, folder)
	must(t, db.Close())
	for _, suffix := range []string{"", "-wal", "-shm", ".head"} {
		if !strings.Contains(log.String(), "file="+opts.URL+suffix+" were=-rw-r--r--") {
			t.Errorf("the log says nothing of %s:\n%s", suffix, &log)
		}
	}
}

// wantPrivate checks that only their owner may use the files below the folder.
func wantPrivate(t *testing.T, folder string) {
	t.Helper()
	seen := 0
	must(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		seen++
		info, err := entry.Info()
		if err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the rights %s", path, info.Mode())
		}
		return err
	}))
	if seen < 2 {
		t.Errorf("the folder has %d files", seen)
	}
}

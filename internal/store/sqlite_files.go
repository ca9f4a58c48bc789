package store

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"github.com/fermata-hq/fermata/internal/private"
)

// sqliteFiles is the last known state of the database file and its write-ahead log.
type sqliteFiles struct {
	path string
	// openedInfo is the file that was opened; the sizes are the last ones that were seen.
	openedInfo    fs.FileInfo
	size, logSize int64
}

// protectFiles creates the database file so that only its owner may read it, and removes the rights of other users
// from existing files. SQLite gives its log the rights of the database file.
func protectFiles(path string, log *slog.Logger) error {
	err := private.Create(path, log)
	for _, suffix := range []string{"-wal", "-shm"} {
		err = errors.Join(err, private.Restrict(path+suffix, log))
	}
	return err
}

// frameHeader is how many bytes the write-ahead log adds to each page.
const frameHeader = 24

// recordOpened stores the identity and the size of the opened file.
func (f *sqliteFiles) recordOpened() error {
	info, err := os.Stat(f.path)
	if err != nil {
		return unavailable("look at "+f.path, err)
	}
	f.openedInfo, f.size = info, info.Size()
	return nil
}

// inspect returns an error if the files were replaced or cut. Only one goroutine may call it.
func (b *sqliteBackend) inspect() error {
	f := &b.files
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, f.openedInfo) {
		return unavailable("inspect", damageTrouble("the file "+filepath.Base(f.path)+" was removed or replaced while the server was using it", err))
	}
	if err != nil {
		return unavailable("inspect", temporaryTrouble("the file of the database cannot be looked at", "see the server's log", err))
	}
	logSize, err := sizeOf(f.path + "-wal")
	if err != nil {
		return unavailable("inspect", temporaryTrouble("the write-ahead log cannot be looked at", "see the server's log", err))
	}
	// The database only grows while this server alone works on it, but another program may have shortened it correctly.
	// The log becomes shorter after a long reader (journal_size_limit).
	if info.Size() < f.size {
		err = b.inspectSize()
	}
	if err == nil && logSize < f.logSize {
		err = b.inspectLogSize()
	}
	if err == nil {
		f.size, f.logSize = info.Size(), logSize
	}
	return err
}

// areReadOnly reports whether the folder of the files is on a read-only file system. It does not open the files
// themselves, because SQLite's locks on a file end when the first descriptor of the file is closed.
func (f *sqliteFiles) areReadOnly() bool {
	probe, err := os.CreateTemp(filepath.Dir(f.path), filepath.Base(f.path)+".probe-*")
	if err != nil {
		return errors.Is(err, syscall.EROFS)
	}
	_, _ = probe.Close(), os.Remove(probe.Name()) // the file is empty
	return false
}

// sizeOf returns the size of a file, or 0 if there is none.
func sizeOf(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// inspectSize returns an error if the database file is too short for its contents. It may only be called after the file
// became shorter: a healthy file may lack pages that are still in the log, but no checkpoint of this server makes it
// shorter.
func (b *sqliteBackend) inspectSize() error {
	b.gate <- struct{}{}
	defer func() { <-b.gate }()
	count, err := b.readPragma("PRAGMA page_count")
	if err != nil {
		return err
	}
	size, err := b.readPragma("PRAGMA page_size")
	if err != nil {
		return err
	}
	return checkSize(b.files.path, "the file", count*size)
}

// inspectLogSize returns an error if the write-ahead log is too short for the pages that it holds.
func (b *sqliteBackend) inspectLogSize() error {
	b.gate <- struct{}{}
	defer func() { <-b.gate }()
	pages, _, err := b.walPages("NOOP")
	if err != nil {
		return err
	}
	size, err := b.readPragma("PRAGMA page_size")
	if err != nil {
		return err
	}
	return checkSize(b.files.path+"-wal", "the write-ahead log", int64(pages)*(size+frameHeader))
}

// checkSize returns an error if a file is shorter than its contents.
func checkSize(path, what string, want int64) error {
	got, err := sizeOf(path)
	switch {
	case err != nil:
		return unavailable("inspect", temporaryTrouble("the files of the database cannot be looked at", "see the server's log", err))
	case got < want:
		return unavailable("inspect", damageTrouble(fmt.Sprintf("%s %s was cut to %d bytes while the server was using it", what, filepath.Base(path), got), nil))
	default:
		return nil
	}
}

// readPragma returns the integer that a pragma of the writer's connection returns.
func (b *sqliteBackend) readPragma(pragma string) (n int64, err error) {
	err = b.writer.queryRow(pragma, &n)
	return n, sqliteError(err)
}

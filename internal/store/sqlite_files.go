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
	// The files only grow while this server alone works on them. But another program may have shortened a file
	// correctly.
	if info.Size() < f.size || logSize < f.logSize {
		err = b.inspectSizes()
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

// inspectSizes returns an error if a file is too short for its contents.
func (b *sqliteBackend) inspectSizes() error {
	b.gate <- struct{}{}
	defer func() { <-b.gate }()
	pages, _, err := b.walPages("NOOP")
	if err != nil {
		return err
	}
	count, err := b.readPragma("PRAGMA page_count")
	if err != nil {
		return err
	}
	size, err := b.readPragma("PRAGMA page_size")
	if err != nil {
		return err
	}
	database, err := sizeOf(b.files.path)
	log, logErr := sizeOf(b.files.path + "-wal")
	if err = errors.Join(err, logErr); err != nil {
		return unavailable("inspect", temporaryTrouble("the files of the database cannot be looked at", "see the server's log", err))
	}
	// A healthy file may also lack pages that are still in the log. But inspectSizes runs only after a file became
	// shorter, and no checkpoint of this server makes a file shorter.
	if database < count*size {
		return unavailable("inspect", damageTrouble(fmt.Sprintf("the file %s was cut to %d bytes while the server was using it", filepath.Base(b.files.path), database), nil))
	}
	if want := int64(pages) * (size + frameHeader); log < want {
		return unavailable("inspect", damageTrouble(fmt.Sprintf("the write-ahead log %s-wal was cut to %d bytes while the server was using it", filepath.Base(b.files.path), log), nil))
	}
	return nil
}

// readPragma returns the integer that a pragma of the writer's connection returns.
func (b *sqliteBackend) readPragma(pragma string) (n int64, err error) {
	err = b.writer.queryRow(pragma, &n)
	return n, sqliteError(err)
}

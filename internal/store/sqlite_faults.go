package store

import (
	"errors"
	"fmt"

	readers "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
	"zombiezen.com/go/sqlite"
)

// sqliteError wraps an error as unavailable if it shows a trouble of the database itself. It returns other errors as
// they are.
func sqliteError(err error) error {
	if troubleOf(err) != nil {
		return err
	}
	if t := sqliteTrouble(err); troubleOf(t) != nil {
		return unavailable("SQLite", t)
	}
	return err
}

// sqliteTrouble returns the error as a [Trouble] if it shows a trouble of the database itself. It returns other errors
// as they are.
func sqliteTrouble(err error) error {
	if err == nil || troubleOf(err) != nil {
		return err
	}
	code := sqliteCode(err)
	switch code & 0xff {
	case sqlite3.SQLITE_FULL:
		return diskFullTrouble("the disk of the database is full", err)
	case sqlite3.SQLITE_READONLY:
		return temporaryTrouble("the database is read-only", hintReadOnly, err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return temporaryTrouble("another program holds the database", "end the other program; Fermata goes on by itself", err)
	case sqlite3.SQLITE_CANTOPEN:
		return temporaryTrouble("the files of the database cannot be opened", "see that the folder is there and belongs to the server", err)
	case sqlite3.SQLITE_IOERR:
		return stopTrouble("the disk failed: "+ioFailure(code), err)
	case sqlite3.SQLITE_CORRUPT:
		return malformedTrouble("the database is malformed", err)
	case sqlite3.SQLITE_NOTADB:
		return malformedTrouble("the file is no database", err)
	}
	return err
}

// sqliteCode returns SQLite's extended code of an error, or [sqlite3.SQLITE_ERROR] if the error is not SQLite's. The
// writer and the readers have errors of different types.
func sqliteCode(err error) int {
	if e, ok := errors.AsType[*readers.Error](err); ok {
		return e.Code()
	}
	return int(sqlite.ErrCode(err))
}

// ioFailure returns a text that says which operation of the disk failed.
func ioFailure(code int) string {
	switch code {
	case sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC:
		return "it did not confirm what was written"
	case sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_TRUNCATE:
		return "it did not take a write"
	case sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_FSTAT:
		return "it did not return what was written"
	}
	return fmt.Sprintf("input or output error %d", code)
}

// wrapError is [sqliteError]. If the disk failed because its file system has become read-only, the error says so.
func (b *sqliteBackend) wrapError(err error) error {
	err = sqliteError(err)
	if t := troubleOf(err); t != nil && t.Stopped && !t.Malformed && b.files.areReadOnly() {
		readOnly := stopTrouble("the file system of the database is read-only", t)
		readOnly.Hint = hintRemount
		return unavailable("SQLite", readOnly)
	}
	return err
}

// onFault sets the function that is called when a checkpoint fails.
func (b *sqliteBackend) onFault(tell func(error)) { b.onFailure = tell }

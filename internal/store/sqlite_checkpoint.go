package store

import (
	"errors"
	"fmt"
)

const (
	// checkpointPages is the number of pages from which on the write-ahead log is copied into the database.
	checkpointPages = 1000
	// logCheckInterval is the number of commits after which the length of the log is read again.
	logCheckInterval = 8
)

// writeAheadLog counts the commits since the length of the log was read.
type writeAheadLog struct{ commits int }

// checkpointWhenLong copies the write-ahead log into the database when the log is long. SQLite's own checkpoint,
// which runs at a commit, hides its errors. A page that the disk did not confirm would then count as written the next
// time. The caller holds the gate.
func (b *sqliteBackend) checkpointWhenLong() {
	b.log.commits++
	if b.log.commits < logCheckInterval {
		return
	}
	b.log.commits = 0
	open, err := b.checkpoint("NOOP")
	if err == nil && open >= checkpointPages {
		_, err = b.checkpoint("PASSIVE")
	}
	if err != nil {
		b.onFailure(err)
	}
}

// checkpoint runs a checkpoint of the given mode, and returns how many pages it left in the log.
func (b *sqliteBackend) checkpoint(mode string) (left int, err error) {
	pages, copied, err := b.walPages(mode)
	return pages - copied, err
}

// walPages runs a checkpoint of the given mode. It returns how many pages the log holds, and how many of them are in
// the database as well. The mode NOOP copies no pages.
func (b *sqliteBackend) walPages(mode string) (pages, copied int, err error) {
	var busy int
	err = b.writer.queryRow("PRAGMA wal_checkpoint("+mode+")", &busy, &pages, &copied)
	if err != nil {
		err = b.wrapError(fmt.Errorf("checkpoint: %w", err))
	}
	return max(pages, 0), max(copied, 0), err
}

// close copies everything into the one database file. After a failure it leaves the log and the writer's connection
// as they are. Closing the connection would try the failed write again, and could succeed without having written.
func (b *sqliteBackend) close(whole bool) error {
	var errs []error
	if b.readers != nil {
		errs = append(errs, b.readers.Close())
	}
	if whole {
		_, err := b.checkpoint("TRUNCATE")
		if err == nil {
			err = b.writer.close()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

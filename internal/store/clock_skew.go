package store

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// LongestSkew is the largest accepted difference between this machine's clock and the database's.
	LongestSkew = 5 * time.Second
	// SkewPrecision is the unit to which a reported skew is rounded: a reading is wrong by at most half of
	// slowReading.
	SkewPrecision = time.Second
	// slowReading is the duration from which on a reading is not compared, because the instant at which the database
	// took it is too uncertain.
	slowReading = time.Second
)

// skew is the time by which this machine's clock is ahead of the database's, in nanoseconds.
type skew struct{ atomic.Int64 }

// measure compares a reading with the middle of the time that the reading took.
func (s *skew) measure(before, after, reading time.Time) {
	took := after.Sub(before)
	if took < slowReading {
		s.Store(int64(before.Add(took / 2).Sub(reading)))
	}
}

// ClockSkew returns by how much this machine's clock is ahead of the database's, according to the newest reading. It
// is 0 on SQLite, which uses the clock of the machine.
func (db *DB) ClockSkew() time.Duration { return time.Duration(db.skew.Load()) }

// readClock reads the database's clock and compares it with this machine's.
func (db *DB) readClock(ctx context.Context) (time.Time, error) {
	before := time.Now()
	reading, err := db.backend.now(ctx)
	if err == nil && db.backend.dialect().clock != "" {
		db.skew.measure(before, time.Now(), reading.Add(db.opts.ClockError()))
	}
	return reading, err
}

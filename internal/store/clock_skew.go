package store

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// LongestSkew is how far the clock of this machine may be from the database's.
	LongestSkew = 5 * time.Second
	// SkewPrecision is what a skew is rounded to where it is told: a reading is at most half of slowReading off.
	SkewPrecision = time.Second
	// slowReading is from which length on a reading does not say when it was taken.
	slowReading = time.Second
)

// skew is how far the clock of this machine is ahead of the database's.
type skew struct{ atomic.Int64 }

// measure compares a reading with the middle of the time that it took.
func (s *skew) measure(before, after, reading time.Time) {
	took := after.Sub(before)
	if took < slowReading {
		s.Store(int64(before.Add(took / 2).Sub(reading)))
	}
}

// ClockSkew returns how far the clock of this machine is ahead of the database's, as the newest reading showed. It is
// 0 on SQLite, which has the clock of the machine.
func (db *DB) ClockSkew() time.Duration { return time.Duration(db.skew.Load()) }

// readClock reads the database's clock, and compares it with this machine's.
func (db *DB) readClock(ctx context.Context) (time.Time, error) {
	before := time.Now()
	reading, err := db.backend.now(ctx)
	if err == nil && db.backend.dialect().clock != "" {
		db.skew.measure(before, time.Now(), reading.Add(db.opts.ClockError()))
	}
	return reading, err
}

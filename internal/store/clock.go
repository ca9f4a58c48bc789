package store

import (
	"context"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
)

const (
	// clockTolerance is the largest step of a clock that does not count as a jump. Time services correct smaller
	// differences gradually.
	clockTolerance = 10 * time.Second
	// ClockConfirmTime is how long a clock must stay at its new time before the jump counts.
	ClockConfirmTime = 30 * time.Second
)

// ClockState shows whether the database's clock can be trusted.
type ClockState struct {
	// Jump is the difference between the clock and the time that it should show. It is positive if the clock is
	// ahead, and 0 if the clock runs as it should.
	Jump time.Duration
	// Confirmed reports whether the jump has lasted for [ClockConfirmTime], so that it may be accepted.
	Confirmed bool
}

// clock watches the database's clock, which decides deadlines and leases. It compares that clock with the time that
// has passed in this process, which nobody can set. While a jump is not confirmed, time goes on as if the clock had
// not jumped. So a clock that is wrong for a moment decides nothing.
type clock struct {
	// elapsed returns the time that has passed since a fixed moment.
	elapsed func() time.Duration

	mu sync.Mutex
	// lastReading is the last reading that counts; lastElapsed is the elapsed time when it was read.
	lastReading time.Time
	lastElapsed time.Duration
	// jump is the difference between the clock and the expected time, and 0 if there is none. since is when it began.
	jump  time.Duration
	since time.Duration
}

// read takes a reading of the database's clock and returns the time that counts.
func (c *clock) read(reading time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.elapsed()
	expected := c.lastReading.Add(now - c.lastElapsed)
	jump := reading.Sub(expected)
	switch {
	case c.lastReading.IsZero():
		c.lastReading, c.lastElapsed = reading, now
		return reading
	case jump.Abs() <= clockTolerance:
		c.lastReading, c.lastElapsed, c.jump = reading, now, 0
		return reading
	case (jump - c.jump).Abs() > clockTolerance:
		// The clock jumped, or jumped again.
		c.since = now
	}
	c.jump = jump
	return expected
}

// begin starts the clock at an instant that has certainly passed.
func (c *clock) begin(passed time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lastReading.IsZero() {
		c.lastReading, c.lastElapsed = passed, c.elapsed()
	}
}

// state returns the jump of the clock, and whether it has lasted long enough to count.
func (c *clock) state() ClockState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return ClockState{Jump: c.jump, Confirmed: c.jump != 0 && c.elapsed()-c.since >= ClockConfirmTime}
}

// accept makes the jump count. From then on, a reading of the clock is the time that counts.
func (c *clock) accept() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastReading, c.lastElapsed = c.lastReading.Add(c.elapsed()-c.lastElapsed+c.jump), c.elapsed()
	c.jump = 0
}

// timeAt returns the time that counts when the database's clock shows reading.
func (db *DB) timeAt(reading time.Time) time.Time {
	if db.opts.Clock != nil {
		return fermata.TruncateTime(db.opts.Clock())
	}
	return fermata.TruncateTime(db.clock.read(reading.Add(db.opts.ClockError())).Add(db.opts.ClockOffset()))
}

// Clock returns the state of the database's clock. A jump counts only after [DB.AcceptClock].
func (db *DB) Clock() ClockState { return db.clock.state() }

// AcceptClock makes a jump of the database's clock count. Leases were measured by the clock before the jump, so call
// [DB.RenewLeases] as well.
func (db *DB) AcceptClock() { db.clock.accept() }

// RenewLeases starts the lease of every run again with its full length. After the clock was set back, it also
// releases held answers, lets another process listen to channels, and makes deliveries due that were due before.
// Otherwise all these would wait for as long as the clock went back.
func (db *DB) RenewLeases(ctx context.Context) error { return db.writeEach(ctx, (*Tx).renewLeases) }

// EndLeases ends the lease of every run of the runner. A process calls it when it starts and is the only one that
// uses the database: the processes that held these runs are gone.
func (db *DB) EndLeases(ctx context.Context, runner string) error {
	return db.writeEach(ctx, func(tx *Tx) {
		tx.markStale(everyRow)
		tx.execAny("UPDATE runs SET lease_until = $1 WHERE workspace_id = $2 AND state = 'running' AND runner = $3 AND lease_until > $1",
			tx.Now().UnixMilli(), tx.workspace, runner)
	})
}

// writeEach calls write in one transaction for each workspace.
func (db *DB) writeEach(ctx context.Context, write func(tx *Tx)) error {
	workspaces, err := db.Reader(ctx, "").Workspaces()
	for _, workspace := range workspaces {
		if err == nil {
			err = db.Write(ctx, workspace, func(tx *Tx) error { write(tx); return nil })
		}
	}
	return err
}

// newestEventSQL is the query for the instant of the newest event of each workspace.
const newestEventSQL = "SELECT e.at FROM workspaces w JOIN events e ON e.workspace_id = w.id AND e.seq = w.event_seq"

// WatchClock starts the watch of the clock at the instant of the newest event. If the clock shows an earlier time, it
// was set back while no server ran.
func (db *DB) WatchClock(ctx context.Context) error {
	if db.opts.Clock != nil {
		return nil // the database's clock is not used
	}
	reading, err := db.readClock(ctx)
	if err != nil {
		return err
	}
	newest := reading.Add(db.opts.ClockError())
	happened, err := list(db.Reader(ctx, ""), scanInt, newestEventSQL)
	for _, ms := range happened {
		// Events carry the shifted time that tests set, so the shift is taken off.
		if event := instantOf(ms).Add(-db.opts.ClockOffset()); event.After(newest) {
			newest = event
		}
	}
	db.clock.begin(newest)
	return err
}

// maxHoldTime is longer than any lease, and longer than any answer is held. It is also longer than the wait of a
// delivery that is to be sent at once. An instant further in the future was written before the clock was set back.
const maxHoldTime = 10 * time.Minute

// renewLeases does the work of [DB.RenewLeases] in one workspace. Repeating it changes nothing, so every replica may do it.
// It skips deliveries that are being sent, because their senders write the result.
func (tx *Tx) renewLeases() {
	tx.markStale(everyRow)
	now, late := tx.Now().UnixMilli(), tx.Now().Add(maxHoldTime).UnixMilli()
	tx.execAny("UPDATE runs SET lease_until = $1 + lease_ms WHERE workspace_id = $2 AND state = 'running'", now, tx.workspace)
	tx.execAny("UPDATE held_answers SET release_at = $1 WHERE release_at > $2 AND workspace_id = $3", now, late, tx.workspace)
	tx.execAny("UPDATE channels SET listens_until = $1 WHERE listens_until > $2 AND workspace_id = $3", now, late, tx.workspace)
	tx.execAny(`UPDATE deliveries SET next_at = $1, version = version + 1 WHERE next_at > $2 AND next_at < created_at + $3
		AND leased_until = 0 AND workspace_id = $4`, now, late, maxHoldTime.Milliseconds(), tx.workspace)
}

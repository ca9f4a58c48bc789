package store

import (
	"context"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
)

const (
	// clockTolerance is the largest step of a clock that passes for no jump. Time
	// services slew smaller differences away.
	clockTolerance = 10 * time.Second
	// ClockConfirmed is how long a clock must keep to a jump before it counts.
	ClockConfirmed = 30 * time.Second
)

// ClockState says whether the database's clock can be trusted.
type ClockState struct {
	// Jump is by how much the clock differs from what it should show; positive
	// when it is ahead. It is 0 for a clock that runs as it should.
	Jump time.Duration
	// Ripe says that the clock has kept to the jump long enough to count.
	Ripe bool
}

// clock watches the database's clock, which decides deadlines and leases. It
// compares the clock with the time that has passed in this process, which
// nobody can set. While a jump is not confirmed, time goes on as if the clock
// had not jumped: a clock that is wrong for a moment decides nothing.
type clock struct {
	// elapsed is the time that has passed since some fixed moment.
	elapsed func() time.Duration

	mu sync.Mutex
	// last is the last reading that counts, at is when it was read.
	last time.Time
	at   time.Duration
	// jump is by how much the clock is off, seen since; 0 where it is not.
	jump  time.Duration
	since time.Duration
}

// read takes a reading of the database's clock and returns the time that counts.
func (c *clock) read(reading time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.elapsed()
	expected := c.last.Add(now - c.at)
	jump := reading.Sub(expected)
	switch {
	case c.last.IsZero():
		c.last, c.at = reading, now
		return reading
	case jump.Abs() <= clockTolerance:
		c.last, c.at, c.jump = reading, now, 0
		return reading
	case (jump - c.jump).Abs() > clockTolerance:
		// The clock jumped, or jumped again.
		c.since = now
	}
	c.jump = jump
	return expected
}

// begin makes the clock start at an instant that has certainly passed.
func (c *clock) begin(passed time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.IsZero() {
		c.last, c.at = passed, c.elapsed()
	}
}

// state returns whether the clock can be trusted.
func (c *clock) state() ClockState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return ClockState{Jump: c.jump, Ripe: c.jump != 0 && c.elapsed()-c.since >= ClockConfirmed}
}

// accept makes the clock's jump count: from now on its readings are the time.
func (c *clock) accept() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last, c.at = c.last.Add(c.elapsed()-c.at+c.jump), c.elapsed()
	c.jump = 0
}

// timeAt is the time that counts at a reading of the database's clock.
func (db *DB) timeAt(reading time.Time) time.Time {
	if db.opts.Clock != nil {
		return fermata.Cut(db.opts.Clock())
	}
	return fermata.Cut(db.clock.read(reading.Add(db.opts.ClockError())).Add(db.opts.ClockOffset()))
}

// Clock reports whether the database's clock jumped. A jump counts only after
// [DB.AcceptClock].
func (db *DB) Clock() ClockState { return db.clock.state() }

// AcceptClock makes a jump of the database's clock count. Leases are measured by
// the clock before the jump: see [DB.RenewLeases].
func (db *DB) AcceptClock() { db.clock.accept() }

// RenewLeases begins the lease of every run anew. After the clock was set back, it also releases held answers, lets
// another process listen to channels, and makes deliveries due that were due before. Otherwise these would wait for as long
// as the clock went back.
func (db *DB) RenewLeases(ctx context.Context) error { return db.writeEach(ctx, (*Tx).renewLeases) }

// EndLeases ends the lease of every run of the runner. A process that is alone with the
// database, and has just begun, calls it: whoever held these runs is gone.
func (db *DB) EndLeases(ctx context.Context, runner string) error {
	return db.writeEach(ctx, func(tx *Tx) {
		tx.execAny("UPDATE runs SET lease_until = $1 WHERE workspace_id = $2 AND state = 'running' AND runner = $3 AND lease_until > $1",
			tx.Now().UnixMilli(), tx.workspace, runner)
	})
}

// writeEach writes in every workspace.
func (db *DB) writeEach(ctx context.Context, write func(tx *Tx)) error {
	workspaces, err := db.In(ctx, "").Workspaces()
	for _, workspace := range workspaces {
		if err == nil {
			err = db.Write(ctx, workspace, func(tx *Tx) error { write(tx); return nil })
		}
	}
	return err
}

// newestEvent reads when the newest event of each workspace happened.
const newestEvent = "SELECT e.at FROM workspaces w JOIN events e ON e.workspace_id = w.id AND e.seq = w.event_seq"

// WatchClock makes the watch of the clock begin at the newest event. A clock that
// shows less was set back while no server ran.
func (db *DB) WatchClock(ctx context.Context) error {
	if db.opts.Clock != nil {
		return nil // no clock of the database is watched
	}
	reading, err := db.readClock(ctx)
	if err != nil {
		return err
	}
	newest := reading.Add(db.opts.ClockError())
	happened, err := list(db.In(ctx, ""), scanInt, newestEvent)
	for _, ms := range happened {
		// Events carry the time that tests have travelled to.
		if event := instantOf(ms).Add(-db.opts.ClockOffset()); event.After(newest) {
			newest = event
		}
	}
	db.clock.begin(newest)
	return err
}

// longestPause is longer than any lease, than any answer is held, and than a delivery waits that is to be sent at once. An
// instant further ahead was written before the clock was set back.
const longestPause = 10 * time.Minute

// renewLeases does the work of [DB.RenewLeases] in one workspace. Repeating it changes nothing, so every replica may do it.
// It skips deliveries that are being sent, because their senders write the result.
func (tx *Tx) renewLeases() {
	now, late := tx.Now().UnixMilli(), tx.Now().Add(longestPause).UnixMilli()
	tx.execAny("UPDATE runs SET lease_until = $1 + lease_ms WHERE workspace_id = $2 AND state = 'running'", now, tx.workspace)
	tx.execAny("UPDATE held_answers SET release_at = $1 WHERE release_at > $2 AND workspace_id = $3", now, late, tx.workspace)
	tx.execAny("UPDATE channels SET listens_until = $1 WHERE listens_until > $2 AND workspace_id = $3", now, late, tx.workspace)
	tx.execAny(`UPDATE deliveries SET next_at = $1, version = version + 1 WHERE next_at > $2 AND next_at < created_at + $3
		AND leased_until = 0 AND workspace_id = $4`, now, late, longestPause.Milliseconds(), tx.workspace)
}

package store

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
)

const (
	// probeInterval is how often an idle server writes a row to know whether it could write.
	probeInterval = 10 * time.Second
	// watchInterval is how often the files are looked at, and how often a write is tried while they fail.
	watchInterval = time.Second
	// slowProbe is how long the row may take until the server calls itself not ready.
	slowProbe = 10 * time.Second
)

// health is what is known of the database's ability to take writes.
type health struct {
	mu sync.Mutex
	// trouble is why writes fail; nil while they do not. headTrouble is why what was acknowledged cannot be kept.
	trouble, headTrouble *Trouble
	// suspected reports that a write failed, so that the next look tries one.
	suspected bool
	// full reports that a write found no space on the disk. Small writes may still succeed, so only a probe that takes
	// space ends it.
	full bool
	// written is when a write was last committed, and probed since when one is being tried. synced is since when the
	// heads are being made durable.
	written, probed, synced time.Time
	// failed wakes the watch.
	failed chan struct{}
}

// Trouble returns why the database takes no writes; nil when it does.
func (db *DB) Trouble() *Trouble {
	h := &db.health
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.trouble != nil:
		return h.trouble
	case h.headTrouble != nil:
		return h.headTrouble
	case !h.probed.IsZero() && time.Since(h.probed) > slowProbe:
		return &Trouble{
			Reason: "a write waits for the database for longer than " + slowProbe.String(),
			Hint:   "see whether the database and its disk answer", Since: h.probed,
		}
	case !h.synced.IsZero() && time.Since(h.synced) > slowProbe:
		return &Trouble{
			Reason: "the disk with the file that keeps what was acknowledged does not answer for longer than " + slowProbe.String(),
			Hint:   "see whether this disk answers", Since: h.synced,
		}
	}
	return nil
}

// refusal returns the error of every write while the database is stopped.
func (db *DB) refusal() error {
	if t := db.Trouble(); t != nil && t.Stopped {
		return t.Refusal()
	}
	return nil
}

// noteFailure keeps what the error of a write says about the database, and returns the error. One failure that may
// pass is only suspicious: the watch tries a write at once, and that one decides.
func (db *DB) noteFailure(err error) error {
	t := troubleOf(err)
	if t == nil && fermata.CodeOf(err) != fermata.CodeUnavailable {
		return err
	}
	h := &db.health
	h.mu.Lock()
	defer h.mu.Unlock()
	if t != nil && t.Stopped {
		h.setLocked(t)
		return err
	}
	if t != nil && t.full {
		h.full = true
	}
	if h.trouble == nil && !h.suspected {
		h.suspected = true
		h.wakeLocked()
	}
	return err
}

// setLocked makes a trouble the one that is told of, unless a worse one is.
func (h *health) setLocked(t *Trouble) {
	if h.trouble != nil && (h.trouble.Stopped && !t.Malformed || h.trouble.Malformed && (h.trouble.seen || !t.seen) || h.trouble.Reason == t.Reason) {
		return
	}
	kept := *t
	kept.Since = time.Now()
	h.trouble = &kept
	if t.Stopped {
		h.wakeLocked()
	}
}

func (h *health) wakeLocked() {
	select {
	case h.failed <- struct{}{}:
	default:
	}
}

// noteRead keeps what the error of a read says: a read that fails in passing says nothing about writes.
func (db *DB) noteRead(err error) error {
	if t := troubleOf(err); t != nil && t.Stopped {
		return db.noteFailure(err)
	}
	return err
}

// noteCommit notes that a write was committed. That ends a trouble that may pass, except a full disk.
func (db *DB) noteCommit() {
	h := &db.health
	h.mu.Lock()
	defer h.mu.Unlock()
	h.written = time.Now()
	if !h.full {
		h.passLocked()
	}
}

// passLocked ends a trouble that may pass.
func (h *health) passLocked() {
	h.suspected = false
	if h.trouble != nil && !h.trouble.Stopped {
		h.trouble = nil
		h.wakeLocked()
	}
}

// Watch looks after the database until ctx ends: it writes a row when nothing else was written, and at once after a
// failure. It calls changed when a trouble begins, changes or ends, and once a minute while one lasts. A disk that does
// not answer keeps it from neither: each of its parts waits for itself alone.
func (db *DB) Watch(ctx context.Context, changed func(*Trouble)) {
	looked := make(chan struct{}, 1)
	var parts sync.WaitGroup
	defer parts.Wait()
	parts.Go(func() { repeat(ctx, nil, looked, db.syncHeads) })
	parts.Go(func() { repeat(ctx, db.health.failed, looked, func() { db.examine(ctx) }) })
	report := reporter{changed: changed}
	repeat(ctx, looked, nil, func() { report.tell(db.Trouble(), time.Now()) })
}

// repeat does a part of the watch every watchInterval, and sooner when it is woken, until ctx ends. It says on done that
// it did.
func repeat(ctx context.Context, woken <-chan struct{}, done chan<- struct{}, do func()) {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		do()
		select {
		case done <- struct{}{}:
		default:
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-woken:
		}
	}
}

// examine looks at the files, and tries a write when it is time.
func (db *DB) examine(ctx context.Context) {
	if err := db.backend.inspect(); err != nil {
		_ = db.noteFailure(err)
	}
	if !db.needsProbe() {
		return
	}
	if err := db.Probe(ctx); err != nil && ctx.Err() == nil {
		db.confirm(err)
	}
}

// confirm makes the failure of a write that was tried the trouble.
func (db *DB) confirm(err error) {
	t := troubleOf(err)
	if t == nil {
		t = passing("the database takes no writes", "the server's log has the reason; Fermata goes on by itself", err)
		if known, ok := errors.AsType[*fermata.Error](err); ok && known.Hint != "" {
			t = passing(known.Message, known.Hint, err)
		}
	}
	db.health.mu.Lock()
	defer db.health.mu.Unlock()
	db.health.setLocked(t)
}

// syncHeads makes durable what was acknowledged.
func (db *DB) syncHeads() {
	db.health.set(&db.health.synced, time.Now())
	t := troubleOf(db.heads.sync())
	db.health.set(&db.health.synced, time.Time{})
	db.health.mu.Lock()
	defer db.health.mu.Unlock()
	if t == nil || db.health.headTrouble == nil {
		db.health.headTrouble = t
	}
}

func (db *DB) needsProbe() bool {
	h := &db.health
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.trouble != nil:
		return !h.trouble.Stopped
	case h.suspected:
		return true
	}
	return time.Since(h.written) >= probeInterval
}

// Probe writes a row of its own and returns when it is durable. After a write that found no space on the disk, it takes
// some and gives it back.
func (db *DB) Probe(ctx context.Context) error {
	db.health.set(&db.health.probed, time.Now())
	defer db.health.set(&db.health.probed, time.Time{})
	full := db.health.foundFull()
	err := db.Write(ctx, DefaultWorkspace, func(tx *Tx) error {
		if claim := db.backend.dialect().claimSpace; full && claim != "" {
			tx.execAny(claim)
		}
		tx.execAny("INSERT INTO write_probe (id, written_at) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at",
			tx.Now().UnixMilli())
		return nil
	})
	if err == nil && full {
		db.health.foundSpace()
	}
	return err
}

func (h *health) foundFull() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.full
}

func (h *health) foundSpace() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.full = false
	h.passLocked()
}

// set sets one of the times of h.
func (h *health) set(field *time.Time, t time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*field = t
}

// reminderInterval is how often a trouble that lasts is told again.
const reminderInterval = time.Minute

// reporter tells of a trouble when it changes, and again while it lasts.
type reporter struct {
	changed func(*Trouble)
	last    *Trouble
	told    time.Time
}

func (r *reporter) tell(t *Trouble, now time.Time) {
	same := t == r.last || t != nil && r.last != nil && t.Reason == r.last.Reason
	if same && (t == nil || now.Sub(r.told) < reminderInterval) {
		return
	}
	r.last, r.told = t, now
	r.changed(t)
}

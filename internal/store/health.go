package store

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
)

const (
	// probeInterval is how often an idle server writes a row, to learn whether it can write.
	probeInterval = 10 * time.Second
	// watchInterval is how often the files are checked, and how often a write is tried while writes fail.
	watchInterval = time.Second
	// slowProbe is how long a probe, or a sync of the heads, may take before the server reports that it is not ready.
	slowProbe = 10 * time.Second
)

// health is the current knowledge about whether the database takes writes.
type health struct {
	mu sync.Mutex
	// trouble is why writes fail, or nil if they do not. headTrouble is why the head file cannot be written.
	trouble, headTrouble *Trouble
	// suspected reports whether a write failed, so that the next check tries another write.
	suspected bool
	// diskFull reports whether a write found no space on the disk. Small writes may still succeed, so only a probe that
	// takes space ends this state.
	diskFull bool
	// lastWrite is when a write was last committed. probeStart is when the probe under way began. syncStart is when
	// the sync of the heads under way began.
	lastWrite, probeStart, syncStart time.Time
	// wakeWatch wakes the watch after a failure.
	wakeWatch chan struct{}
}

// Trouble returns why the database takes no writes, or nil if it takes them.
func (db *DB) Trouble() *Trouble {
	h := &db.health
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.trouble != nil:
		return h.trouble
	case h.headTrouble != nil:
		return h.headTrouble
	case !h.probeStart.IsZero() && time.Since(h.probeStart) > slowProbe:
		return &Trouble{
			Reason: "a write waits for the database for longer than " + slowProbe.String(),
			Hint:   "see whether the database and its disk answer", Since: h.probeStart,
		}
	case !h.syncStart.IsZero() && time.Since(h.syncStart) > slowProbe:
		return &Trouble{
			Reason: "the disk with the file that keeps what was acknowledged does not answer for longer than " + slowProbe.String(),
			Hint:   "see whether this disk answers", Since: h.syncStart,
		}
	}
	return nil
}

// stoppedError returns the error of every write while the database is stopped, or nil.
func (db *DB) stoppedError() error {
	if t := db.Trouble(); t != nil && t.Stopped {
		return t.Refusal()
	}
	return nil
}

// noteFailure records what the error of a write shows about the database, and returns the error. One failure that may
// pass only raises a suspicion: the watch tries a write at once, and the result of this write decides.
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
		h.diskFull = true
	}
	if h.trouble == nil && !h.suspected {
		h.suspected = true
		h.wakeLocked()
	}
	return err
}

// setLocked stores t as the trouble, unless the stored one is worse. The caller holds mu.
func (h *health) setLocked(t *Trouble) {
	if h.trouble != nil && (h.trouble.Stopped && !t.Malformed || h.trouble.Malformed && (h.trouble.shownByFiles || !t.shownByFiles) || h.trouble.Reason == t.Reason) {
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
	case h.wakeWatch <- struct{}{}:
	default:
	}
}

// noteRead records what the error of a read shows about the database, and returns the error. A failure of a read that
// may pass shows nothing about writes.
func (db *DB) noteRead(err error) error {
	if t := troubleOf(err); t != nil && t.Stopped {
		return db.noteFailure(err)
	}
	return err
}

// noteCommit records that a write was committed. This ends a trouble that may pass, except a full disk.
func (db *DB) noteCommit() {
	h := &db.health
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastWrite = time.Now()
	if !h.diskFull {
		h.clearTroubleLocked()
	}
}

// clearTroubleLocked ends a trouble that may pass. The caller holds mu.
func (h *health) clearTroubleLocked() {
	h.suspected = false
	if h.trouble != nil && !h.trouble.Stopped {
		h.trouble = nil
		h.wakeLocked()
	}
}

// Watch checks the database, and its standby, until ctx ends. It writes a row when no other write was committed for a while, and at
// once after a failure. It calls changed when a trouble begins, changes or ends, and once a minute while a trouble
// lasts. The parts of the watch run independently, so a disk that does not answer cannot block the other parts.
func (db *DB) Watch(ctx context.Context, changed func(*Trouble)) {
	checked := make(chan struct{}, 1)
	var parts sync.WaitGroup
	defer parts.Wait()
	parts.Go(func() { repeat(ctx, nil, checked, db.syncHeads) })
	if db.standby != nil {
		parts.Go(func() { repeat(ctx, nil, nil, func() { db.standby.examine(ctx) }) })
	}
	parts.Go(func() { repeat(ctx, db.health.wakeWatch, checked, func() { db.examine(ctx) }) })
	report := reporter{changed: changed}
	repeat(ctx, checked, nil, func() { report.report(db.Trouble(), time.Now()) })
}

// repeat calls do every watchInterval, and sooner when woken receives, until ctx ends. It signals done after each
// call.
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

// examine checks the files, and tries a write when one is due.
func (db *DB) examine(ctx context.Context) {
	if err := db.backend.inspect(); err != nil {
		_ = db.noteFailure(err)
	}
	if !db.needsProbe() {
		return
	}
	if err := db.Probe(ctx); err != nil && ctx.Err() == nil {
		db.confirmTrouble(err)
	}
}

// confirmTrouble records the failure of a probe as the trouble.
func (db *DB) confirmTrouble(err error) {
	t := troubleOf(err)
	if t == nil {
		t = temporaryTrouble("the database takes no writes", "the server's log has the reason; Fermata goes on by itself", err)
		if known, ok := errors.AsType[*fermata.Error](err); ok && known.Hint != "" {
			t = temporaryTrouble(known.Message, known.Hint, err)
		}
	}
	db.health.mu.Lock()
	defer db.health.mu.Unlock()
	db.health.setLocked(t)
}

// syncHeads makes the head file durable.
func (db *DB) syncHeads() {
	db.health.set(&db.health.syncStart, time.Now())
	t := troubleOf(db.heads.sync())
	db.health.set(&db.health.syncStart, time.Time{})
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
	return time.Since(h.lastWrite) >= probeInterval
}

// Probe writes a row of its own and returns when it is durable. After a write that found no space on the disk, it
// also takes some space and gives it back.
func (db *DB) Probe(ctx context.Context) error {
	db.health.set(&db.health.probeStart, time.Now())
	defer db.health.set(&db.health.probeStart, time.Time{})
	full := db.health.isDiskFull()
	err := db.Write(ctx, DefaultWorkspace, func(tx *Tx) error {
		if reserve := db.backend.dialect().reserveSpace; full && reserve != "" {
			tx.execAny(reserve)
		}
		tx.execAny("INSERT INTO write_probe (id, written_at) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at",
			tx.Now().UnixMilli())
		return nil
	})
	if err == nil && full {
		db.health.clearDiskFull()
	}
	return err
}

func (h *health) isDiskFull() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.diskFull
}

func (h *health) clearDiskFull() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.diskFull = false
	h.clearTroubleLocked()
}

// set sets one of the times of h.
func (h *health) set(field *time.Time, t time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*field = t
}

// reminderInterval is how often a trouble that lasts is reported again.
const reminderInterval = time.Minute

// reporter reports a trouble when it begins, changes or ends, and regularly while it lasts.
type reporter struct {
	changed    func(*Trouble)
	last       *Trouble
	reportedAt time.Time
}

func (r *reporter) report(t *Trouble, now time.Time) {
	same := t == r.last || t != nil && r.last != nil && t.Reason == r.last.Reason
	if same && (t == nil || now.Sub(r.reportedAt) < reminderInterval) {
		return
	}
	r.last, r.reportedAt = t, now
	r.changed(t)
}

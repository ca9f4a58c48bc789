package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/checkpoint"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/keys"
	"github.com/fermata-hq/fermata/internal/store"
)

const (
	// dayQuestions is the number of questions of a busy day. daysOfYear is how often the page multiplies what one weighs.
	dayQuestions = 100_000
	daysOfYear   = 365
	// keptFor is how long the workspace of the measurement keeps ended tasks. afterwards is when they are removed.
	keptFor    = "1d"
	afterwards = 2 * 24 * time.Hour
)

// day measures what a day of questions weighs, how long its removal takes, and whether the next day finds room in the space
// that it left.
func (b *bench) day(ctx context.Context) error {
	n := dayQuestions
	if b.short {
		n /= 10
	}
	for _, kind := range b.kinds {
		if err := b.dayOn(ctx, kind, n); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) dayOn(ctx context.Context, kind string, n int) (err error) {
	d, err := b.newDatabase(ctx, kind, "day_"+kind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.drop(ctx)) }()
	t := &timeline{d: d, n: n}
	if err := t.measure(ctx); err != nil {
		return err
	}
	where := fmt.Sprintf("%s, %s questions", title(kind), thousands(n))
	each := float64(t.half[1]-t.half[0]) / float64(n-n/2)
	b.reportFact("disk of a question with its task, two runs and all events", where, fmt.Sprintf("%.0f bytes in the first half, %.0f in the second, %d events; a year of %s a day has %.0f GB",
		float64(t.half[0]-t.empty)/float64(n/2), each, t.removed/int64(n), thousands(dayQuestions), each*dayQuestions*daysOfYear/1e9))
	b.reportFact("removal of a day that is kept no longer", where, fmt.Sprintf("%s, %.0f events/s", t.removal.Round(time.Second/10), float64(t.removed)/t.removal.Seconds()))
	const bar = 1.1
	ratio := float64(t.second-t.empty) / float64(t.half[1]-t.empty)
	b.judge("disk after another day, beside that after the first, which is removed", where, fmt.Sprintf("%s beside %s; ratio %.2f", mb(t.second), mb(t.half[1]), ratio), "ratio ≤ 1.1", ratio <= bar)
	return nil
}

// timeline is a database whose time the measurement moves.
type timeline struct {
	d *database
	n int
	// offset is added to the time.
	offset atomic.Int64
	// empty is the size before the first day, half are the sizes in its middle and at its end, and second that at the end of
	// the second day.
	empty, second int64
	half          [2]int64
	removal       time.Duration
	removed       int64
}

func (t *timeline) measure(ctx context.Context) (err error) {
	if t.empty, err = t.d.sizeWithoutDeadRows(ctx); err != nil {
		return err
	}
	for i, n := range []int{t.n / 2, t.n - t.n/2} {
		if t.half[i], err = t.fill(ctx, n); err != nil {
			return err
		}
	}
	t.offset.Add(int64(afterwards))
	if err := t.open(ctx, t.remove); err != nil {
		return err
	}
	if _, err := t.d.sizeWithoutDeadRows(ctx); err != nil {
		return err
	}
	t.second, err = t.fill(ctx, t.n)
	return err
}

// fill lets tasks be worked on from their creation to their end, and returns the size of the database.
func (t *timeline) fill(ctx context.Context, n int) (int64, error) {
	err := t.open(ctx, func(ctx context.Context, _ *store.DB, e *engine.Engine) error {
		p, err := newPlayer(e)
		if err != nil {
			return err
		}
		return doConcurrently(128, n, func(int, int) error { return p.play(ctx) })
	})
	if err != nil {
		return 0, err
	}
	return t.d.sizeWithoutDeadRows(ctx)
}

// remove removes the tasks that the policy keeps no longer.
func (t *timeline) remove(ctx context.Context, db *store.DB, e *engine.Engine) error {
	p := fermata.DefaultPolicy()
	p.KeepTasks = keptFor
	if _, err := e.SetPolicy(ctx, operator, p); err != nil {
		return err
	}
	began := time.Now()
	if err := e.ApplyRetention(ctx); err != nil {
		return err
	}
	t.removal = time.Since(began)
	var err error
	t.removed, err = db.Reader(ctx, store.DefaultWorkspace).RemovedEvents()
	if err == nil && t.removed < int64(t.n) {
		err = fmt.Errorf("only %d events were removed", t.removed)
	}
	return err
}

// open opens the database in this process, with an engine that signs the audit.
func (t *timeline) open(ctx context.Context, fn func(context.Context, *store.DB, *engine.Engine) error) error {
	offset := func() time.Duration { return time.Duration(t.offset.Load()) }
	return t.d.withOptions(ctx, store.Options{ClockOffset: offset}, func(db *store.DB, ring *keys.Ring) error {
		signer, err := checkpoint.NewSigner(ring.AuditSigner())
		if err != nil {
			return err
		}
		e := engine.New(db, engine.Options{Signer: signer, CheckpointEvery: time.Second})
		ctx, cancel := context.WithCancel(ctx)
		var signing sync.WaitGroup
		signing.Go(func() { e.RunCheckpoints(ctx) })
		err = fn(ctx, db, e)
		cancel()
		signing.Wait()
		return err
	})
}

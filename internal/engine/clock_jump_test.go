package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/patience"
)

// wrongClock is a clock of the database that a test can set wrong. It also
// counts the time that really passes.
type wrongClock struct {
	ahead, passed atomic.Int64
	begun         time.Time
}

// jump moves the clock forward or back.
func (c *wrongClock) jump(d time.Duration) { c.ahead.Add(int64(d)) }

// pass lets time pass, and moves the clock by the same time.
func (c *wrongClock) pass(d time.Duration) {
	c.passed.Add(int64(d))
	c.ahead.Add(int64(d))
}

// eachWrongClock runs a test on both databases, with a clock that can jump
// while the engine sweeps.
func eachWrongClock(t *testing.T, test func(w *world, clock *wrongClock)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		clock := &wrongClock{begun: time.Now()}
		opts.ClockError = func() time.Duration { return time.Duration(clock.ahead.Load()) }
		opts.Elapsed = func() time.Duration { return time.Since(clock.begun) + time.Duration(clock.passed.Load()) }
		w := newWorld(t, opts)
		w.OK(w.Engine.Start(w.Context()))
		ctx, stop := context.WithCancel(w.Context())
		swept := make(chan struct{})
		go func() { defer close(swept); w.Engine.RunSweeps(ctx) }()
		t.Cleanup(func() { stop(); <-swept })
		test(w, clock)
	})
}

// await waits until the condition holds.
func (w *world) await(what string, holds func() bool) {
	w.Helper()
	patience.Await(w, what, holds)
}

// awaitJump waits until the engine has noticed the jump of the clock.
func (w *world) awaitJump() {
	w.Helper()
	w.await("the jump is noticed", func() bool { return w.Engine.Clock().Jump != 0 })
}

// TestClockJumpsForAMoment: while the clock is two hours ahead for a moment,
// nothing times out, neither by a sweep nor by an answer.
func TestClockJumpsForAMoment(t *testing.T) {
	eachWrongClock(t, func(w *world, clock *wrongClock) {
		_, q := w.createSuspended(fermata.Ask{Question: "Which format?", Timeout: "30m"})
		_, other := w.createSuspended(fermata.Ask{Question: "Which colour?", Timeout: "30m"})
		running := w.createRunning(fermata.NewTask{})
		clock.jump(2 * time.Hour)
		w.awaitJump()
		clock.pass(2 * time.Second)
		w.Equal("blue", w.answer(other.ID, "blue").Resolution.Answer)
		_, err := w.Engine.Heartbeat(w.Context(), w.agent, running.Run.ID, fermata.Heartbeat{Token: running.Run.Token})
		w.OK(err)
		clock.jump(-2 * time.Hour)
		w.await("the clock is right again", func() bool { return w.Engine.Clock().Jump == 0 })
		w.checkQuestion(q.ID, fermata.Pending)
		w.complete(running)
		w.checkAudit()
	})
}

// TestClockKeepsToAJump: a clock that stays two hours ahead is accepted in the
// end, and no live worker loses its task because of it.
func TestClockKeepsToAJump(t *testing.T) {
	eachWrongClock(t, func(w *world, clock *wrongClock) {
		_, q := w.createSuspended(fermata.Ask{Question: "Which format?", Timeout: "30m"})
		running := w.createRunning(fermata.NewTask{})
		clock.jump(2 * time.Hour)
		w.awaitJump()
		clock.pass(store.ClockConfirmTime)
		w.await("the question times out", func() bool {
			q, err := w.Engine.Question(w.Context(), w.agent, q.ID)
			w.OK(err)
			return q.Status == fermata.TimedOut
		})
		w.complete(running)
		w.checkAudit()
	})
}

// TestClockIsSetBackForGood: the lease of a dead worker ends, although the
// clock shows an hour less than when the lease began.
func TestClockIsSetBackForGood(t *testing.T) {
	eachWrongClock(t, func(w *world, clock *wrongClock) {
		dead := w.createRunning(fermata.NewTask{})
		clock.jump(-time.Hour)
		w.awaitJump()
		clock.pass(store.ClockConfirmTime)
		run := func() *fermata.Run {
			run, err := w.Engine.Run(w.Context(), admin, dead.Run.ID)
			w.OK(err)
			return run
		}
		w.await("the lease begins again", func() bool { return run().LeaseUntil.Before(dead.Run.LeaseUntil.Add(-30 * time.Minute)) })
		clock.pass(fermata.DefaultLease)
		w.await("the run is lost", func() bool { return run().State == fermata.RunLost })
		w.checkState(dead.Task.ID, fermata.TaskOpen)
	})
}

// TestClockIsBehindTheEvents: the engine notices at the start that the clock
// was set back while no server ran.
func TestClockIsBehindTheEvents(t *testing.T) {
	eachWrongClock(t, func(w *world, clock *wrongClock) {
		w.task(fermata.NewTask{})
		again := w.Options
		again.ClockError = func() time.Duration { return -time.Hour }
		db, err := store.Open(w.Context(), again)
		w.OK(err)
		w.Cleanup(func() { w.OK(db.Close()) })
		w.OK(db.WatchClock(w.Context()))
		_, err = db.Now(w.Context())
		w.OK(err)
		if jump := db.Clock().Jump.Round(time.Minute); jump != -time.Hour {
			w.Fatalf("the clock is off by %s, want -1h", jump)
		}
	})
}

package storetest

import (
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

var clockTests = map[string]func(*suite){
	"leases begin again":                   clockRenewsLeases,
	"leases of a runner end":               clockEndsLeases,
	"what waits for a clock set back":      clockLetsGo,
	"a clock that is behind its events":    clockBehindEvents,
	"a clock that runs as it should":       clockRuns,
	"a jump counts when it is accepted":    clockAccepts,
	"a clock that jumps back to the truth": clockReturns,
	"a machine with another time":          clockApart,
}

// openWithClockError opens the database again. The returned variable is the error of its clock.
func (s *suite) openWithClockError() (*store.DB, *time.Duration) {
	s.Helper()
	var wrong time.Duration
	opts := s.opts
	opts.ClockError = func() time.Duration { return wrong }
	return s.config.Open(s.T, opts), &wrong
}

// countedTime returns the time that counts.
func (s *suite) countedTime(db *store.DB) time.Time {
	s.Helper()
	now, err := db.Now(s.Context())
	s.checkNoError(err)
	return now
}

func clockRuns(s *suite) {
	db, _ := s.openWithClockError()
	s.checkNoError(db.WatchClock(s.Context()))
	s.countedTime(db)
	s.checkEqual(store.ClockState{}, db.Clock())
}

func clockApart(s *suite) {
	db, wrong := s.openWithClockError()
	*wrong = -8 * time.Second
	want := 8 * time.Second
	if db.Dialect() == "sqlite" {
		// SQLite uses the clock of the machine.
		want = 0
	}
	s.checkNoError(db.WatchClock(s.Context()))
	s.checkEqual(want, db.ClockSkew().Round(time.Second))
	*wrong = 0
	s.countedTime(db)
	s.checkEqual(time.Duration(0), db.ClockSkew().Round(time.Second))
}

func clockReturns(s *suite) {
	db, wrong := s.openWithClockError()
	before := s.countedTime(db)
	*wrong = 2 * time.Hour
	if d := s.countedTime(db).Sub(before); d > time.Minute {
		s.Errorf("the time that counts jumped by %s", d)
	}
	s.checkEqual(2*time.Hour, db.Clock().Jump.Round(time.Minute))
	*wrong = 0
	s.countedTime(db)
	s.checkEqual(store.ClockState{}, db.Clock())
}

func clockAccepts(s *suite) {
	db, wrong := s.openWithClockError()
	before := s.countedTime(db)
	*wrong = -2 * time.Hour
	s.countedTime(db)
	db.AcceptClock()
	s.checkEqual(store.ClockState{}, db.Clock())
	s.checkEqual(-2*time.Hour, s.countedTime(db).Sub(before).Round(time.Minute))
}

func clockBehindEvents(s *suite) {
	s.write(func(tx *store.Tx) {
		tx.Append(&fermata.Event{Type: fermata.EventPolicyChanged, Actor: fermata.SystemActor})
	})
	db, wrong := s.openWithClockError()
	*wrong = -time.Hour
	s.checkNoError(db.WatchClock(s.Context()))
	s.countedTime(db)
	s.checkEqual(-time.Hour, db.Clock().Jump.Round(time.Minute))
}

func clockRenewsLeases(s *suite) {
	r := s.addRun(func(r *fermata.Run) { r.Renew(time.Hour, noon) })
	s.checkNoError(s.db.RenewLeases(s.Context()))
	fresh, err := s.read().Run(r.ID)
	s.checkNoError(err)
	s.checkEqual(time.Hour, fresh.Lease)
	if left := fresh.LeaseUntil.Sub(s.countedTime(s.db)); left < 50*time.Minute || left > time.Hour {
		s.Errorf("the lease runs %s from now on, want an hour", left)
	}
}

func clockEndsLeases(s *suite) {
	now := s.countedTime(s.db)
	ended := s.addRun(func(r *fermata.Run) { r.Runner = "workflow"; r.Renew(time.Hour, now) })
	other := s.addRun(func(r *fermata.Run) { r.Runner = "claude"; r.Renew(time.Hour, now) })
	gone := s.addRun(func(r *fermata.Run) { r.Runner, r.Worker = "workflow", "gone"; r.Renew(time.Hour, now) })
	workers, err := s.db.WorkersHoldingRuns(s.Context(), "workflow")
	s.checkNoError(err)
	s.checkEqual([]string{"gone", "w1"}, workers)
	left := func(want map[string]bool) {
		for id, left := range want {
			r, err := s.read().Run(id)
			s.checkNoError(err)
			s.checkEqual(left, r.LeaseUntil.After(s.countedTime(s.db)))
		}
	}
	s.checkNoError(s.db.EndLeasesOf(s.Context(), "workflow", "gone"))
	left(map[string]bool{gone.ID: false, ended.ID: true, other.ID: true})
	s.checkNoError(s.db.EndLeases(s.Context(), "workflow"))
	left(map[string]bool{ended.ID: false, other.ID: true})
}

// clockLetsGo checks rows that were written while the clock was an hour ahead, after the clock was set back.
func clockLetsGo(s *suite) {
	before := s.countedTime(s.db).Add(time.Hour)
	q := s.addQuestion(func(*fermata.Question) {})
	q.HeldAnswer = &fermata.HeldAnswer{By: alice, At: before, ReleaseAt: before.Add(5 * time.Second), Channel: "web"}
	wall := s.addChannel("wall")
	soon, quiet := newDelivery(wall, "a", before.Add(time.Second)), newDelivery(wall, "b", before.Add(8*time.Hour))
	soon.CreatedAt, quiet.CreatedAt = before, before
	s.planDeliveries(soon, quiet)
	s.write(func(tx *store.Tx) {
		tx.HoldAnswer(q)
		if _, err := tx.TakeListenLease(wall.ID, "gone", before.Add(time.Second)); err != nil {
			s.Error(err)
		}
	})
	for range 2 {
		s.checkNoError(s.db.RenewLeases(s.Context()))
	}
	now := s.countedTime(s.db)
	s.checkEqual(1, len(s.overdue(now, 10).HeldAnswers))
	due, err := s.db.DueDeliveries(s.Context(), wall.ID, now, 10)
	s.checkNoError(err)
	s.checkEqual(1, len(due))
	s.checkEqual(soon.ID, due[0].ID)
	var mine bool
	s.write(func(tx *store.Tx) {
		if mine, err = tx.TakeListenLease(wall.ID, "here", now.Add(time.Minute)); err != nil {
			s.Error(err)
		}
	})
	s.checkEqual(true, mine)
}

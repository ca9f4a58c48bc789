package engine

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata/internal/store"
)

// Clock returns the state of the database's clock. While a jump of the clock is not confirmed, nothing times out.
func (e *Engine) Clock() store.ClockState { return e.db.Clock() }

// ClockSkew returns how far the clock of this machine is ahead of the database's.
func (e *Engine) ClockSkew() time.Duration { return e.db.ClockSkew() }

// clockWatch decides whether the database's clock can be trusted, so that only a trusted clock ends questions and
// leases.
type clockWatch struct {
	e *Engine
	// jumpLogged reports whether the present jump was logged. mustRenewLeases reports whether a jump was accepted,
	// but the leases are still measured by the clock before it.
	jumpLogged, mustRenewLeases bool
	// skewLogged reports whether a difference between this machine's clock and the database's was logged.
	skewLogged bool
}

// checkClock reports whether deadlines may be decided by the database's clock.
// It accepts a jump that lasted long enough.
func (w *clockWatch) checkClock(ctx context.Context) (bool, error) {
	// Reading the clock notices a jump even if nobody writes.
	if _, err := w.e.db.Now(ctx); err != nil {
		return false, err
	}
	state := w.e.db.Clock()
	w.log(state)
	w.logSkew(w.e.db.ClockSkew())
	if state.Confirmed {
		w.e.db.AcceptClock()
		w.jumpLogged, w.mustRenewLeases = false, true
	}
	if w.mustRenewLeases {
		if err := w.e.db.RenewLeases(ctx); err != nil {
			return false, err
		}
		w.mustRenewLeases = false
	}
	return w.e.db.Clock().Jump == 0, nil
}

// log logs each change of the clock's state once.
func (w *clockWatch) log(state store.ClockState) {
	jump := state.Jump.Round(time.Second)
	switch {
	case state.Confirmed:
		w.e.log.Warn("the database's clock has kept to its jump, which counts from now on", "jump", jump)
	case state.Jump != 0 && !w.jumpLogged:
		w.e.log.Error("the database's clock jumped: nothing times out until the clock is right again or has kept to the jump for a while",
			"jump", jump, "while", store.ClockConfirmTime)
	case state.Jump == 0 && w.jumpLogged:
		w.e.log.Warn("the database's clock is right again")
	}
	w.jumpLogged = state.Jump != 0
}

// logSkew logs once that the clocks of this machine and the database differ, and once that they agree again. Between
// the two limits it logs nothing, so that a clock near the limit does not fill the log.
func (w *clockWatch) logSkew(skew time.Duration) {
	ahead := skew.Round(store.SkewPrecision)
	switch {
	case !w.skewLogged && skew.Abs() > store.LongestSkew:
		w.e.log.Error("the clock of this machine is not the database's, by which deadlines and leases go: let a time service set both", "ahead", ahead)
		w.skewLogged = true
	case w.skewLogged && skew.Abs() < store.LongestSkew/2:
		w.e.log.Warn("the clock of this machine agrees with the database's again", "ahead", ahead)
		w.skewLogged = false
	}
}

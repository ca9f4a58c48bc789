package engine

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata/internal/store"
)

// Clock reports whether the database's clock jumped, so that nothing times out for
// the moment.
func (e *Engine) Clock() store.ClockState { return e.db.Clock() }

// ClockSkew returns how far the clock of this machine is ahead of the database's.
func (e *Engine) ClockSkew() time.Duration { return e.db.ClockSkew() }

// clockWatch lets time decide only by a clock that can be trusted.
type clockWatch struct {
	e *Engine
	// jumped says that a jump was logged. renewing says that a jump counts and the
	// leases are still measured by the clock before it.
	jumped, renewing bool
	// apart says that it was logged that this machine has another time than the database.
	apart bool
}

// isTrusted reports whether time may decide, by the database's clock. A jump to
// which the clock has kept long enough begins to count.
func (w *clockWatch) isTrusted(ctx context.Context) (bool, error) {
	// Reading the clock notices a jump where nobody writes.
	if _, err := w.e.db.Now(ctx); err != nil {
		return false, err
	}
	state := w.e.db.Clock()
	w.log(state)
	w.logSkew(w.e.db.ClockSkew())
	if state.Ripe {
		w.e.db.AcceptClock()
		w.jumped, w.renewing = false, true
	}
	if w.renewing {
		if err := w.e.db.RenewLeases(ctx); err != nil {
			return false, err
		}
		w.renewing = false
	}
	return w.e.db.Clock().Jump == 0, nil
}

// log says once what the clock did.
func (w *clockWatch) log(state store.ClockState) {
	jump := state.Jump.Round(time.Second)
	switch {
	case state.Ripe:
		w.e.log.Warn("the database's clock has kept to its jump, which counts from now on", "jump", jump)
	case state.Jump != 0 && !w.jumped:
		w.e.log.Error("the database's clock jumped: nothing times out until the clock is right again or has kept to the jump for a while",
			"jump", jump, "while", store.ClockConfirmed)
	case state.Jump == 0 && w.jumped:
		w.e.log.Warn("the database's clock is right again")
	}
	w.jumped = state.Jump != 0
}

// logSkew says once that this machine has another time than the database, and once that it has the same again. A
// clock at the limit is not told of again and again.
func (w *clockWatch) logSkew(skew time.Duration) {
	ahead := skew.Round(store.SkewPrecision)
	switch {
	case !w.apart && skew.Abs() > store.LongestSkew:
		w.e.log.Error("the clock of this machine is not the database's, by which deadlines and leases go: let a time service set both", "ahead", ahead)
		w.apart = true
	case w.apart && skew.Abs() < store.LongestSkew/2:
		w.e.log.Warn("the clock of this machine agrees with the database's again", "ahead", ahead)
		w.apart = false
	}
}

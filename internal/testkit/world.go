package testkit

import (
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// Admin is a person who may do everything that people may. No row of the database describes this person.
var Admin = fermata.Caller{
	WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorHuman, MemberID: "mem_admin", Name: "root", Role: fermata.RoleAdmin,
	Scopes: []fermata.Scope{fermata.ScopeAdmin}, Assurance: fermata.AssuranceSession,
}

// Agent is an agent that may work and ask. No row of the database describes its token.
var Agent = fermata.Caller{
	WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorAgent, TokenID: "tok_agent", Name: "worker",
	Scopes: []fermata.Scope{fermata.ScopeAsk, fermata.ScopeWork},
}

// World is an engine on a real database with a clock that the test moves. The engine is not started.
type World struct {
	Test
	// Options open the same database once more, with the same clock.
	Options store.Options
	DB      *store.DB
	Clock   *storetest.Clock
	Engine  *engine.Engine
}

// New returns a world on the database of the options, which it migrates. The clock stands still until the test moves it.
// If the test brings its own clock (ClockError or Elapsed is set), moving the world's clock is added to that.
func New(t *testing.T, opts store.Options) World {
	t.Helper()
	clock := storetest.StandingClock()
	if opts.ClockError == nil && opts.Elapsed == nil {
		opts.Clock = clock.Now
	} else {
		opts.ClockOffset = clock.Offset
	}
	db := storetest.Open(t, opts)
	return World{Test: Test{t}, Options: opts, DB: db, Clock: clock, Engine: engine.New(db, engine.Options{})}
}

// AddMember adds a member, as an admin does.
func (w *World) AddMember(n engine.NewMember) *fermata.Member {
	w.Helper()
	m, err := w.Engine.AddMember(w.Context(), Admin, n)
	w.OK(err)
	return m
}

// Person adds an operator, and returns this person as a caller that may answer.
func (w *World) Person(handle string, groups ...string) fermata.Caller {
	w.Helper()
	m := w.AddMember(engine.NewMember{Handle: handle, Role: fermata.RoleOperator, Groups: groups})
	return fermata.Caller{
		WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorHuman, MemberID: m.ID, Name: handle, Role: m.Role, Groups: groups,
		Scopes: []fermata.Scope{fermata.ScopeAnswer}, Assurance: fermata.AssuranceChannel,
	}
}

// Head returns the number of the last event. Every change increases it.
func (w *World) Head() int64 {
	w.Helper()
	head, err := w.Engine.Tail().Head(w.Context(), store.DefaultWorkspace)
	w.OK(err)
	return head
}

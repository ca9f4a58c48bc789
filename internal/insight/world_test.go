package insight_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/insight"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// world is an engine on a real database with a clock that the test moves.
type world struct {
	*testing.T
	e      *engine.Engine
	a      insight.Analytics
	clock  *storetest.Clock
	agent  fermata.Caller
	people []fermata.Caller
}

func newWorld(t *testing.T, opts store.Options) *world {
	t.Helper()
	w := &world{T: t, clock: storetest.StandingClock()}
	opts.Clock = w.clock.Now
	w.e = engine.New(storetest.Open(t, opts), engine.Options{})
	w.a = insight.Analytics{Engine: w.e}
	w.agent = fermata.Caller{
		WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorAgent, TokenID: "tok_agent", Name: "agent",
		Scopes: []fermata.Scope{fermata.ScopeAsk, fermata.ScopeWork},
	}
	admin := fermata.Caller{
		WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorHuman, Role: fermata.RoleAdmin, Scopes: []fermata.Scope{fermata.ScopeAdmin},
	}
	for _, handle := range []string{"alice", "bob"} {
		m, err := w.e.AddMember(t.Context(), admin, engine.NewMember{Handle: handle, Role: fermata.RoleOperator})
		w.ok(err)
		w.people = append(w.people, fermata.Caller{
			WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorHuman, MemberID: m.ID, Name: handle, Role: m.Role,
			Scopes: []fermata.Scope{fermata.ScopeAnswer}, Assurance: fermata.AssuranceChannel,
		})
	}
	return w
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatalf("unexpected error: %v", err)
	}
}

func (w *world) equal(want, got any) {
	w.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		w.Fatalf("(-want +got):\n%s", diff)
	}
}

// onSQLite returns the options of a new file, because a property test makes
// many worlds.
func onSQLite(t *testing.T) store.Options {
	t.Helper()
	return storetest.SQLite(t)
}

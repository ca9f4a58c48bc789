package insight_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/insight"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/internal/testkit"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// world is an engine on a real database, with an agent and people.
type world struct {
	testkit.World
	a      insight.Analytics
	agent  fermata.Caller
	people []fermata.Caller
}

func newWorld(t *testing.T, opts store.Options) *world {
	t.Helper()
	w := &world{World: testkit.New(t, opts), agent: testkit.Agent}
	w.a = insight.Analytics{Engine: w.Engine}
	w.people = []fermata.Caller{w.Person("alice"), w.Person("bob")}
	return w
}

// onSQLite returns the options of a new file, because a property test makes
// many worlds.
func onSQLite(t *testing.T) store.Options {
	t.Helper()
	return storetest.SQLite(t)
}

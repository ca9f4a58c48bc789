// Package claude plays the random sequences of the seams with the real Claude Code.
package claude

import (
	"os"
	"testing"
	"time"

	"github.com/fermata-hq/fermata/test/agent"
	"github.com/fermata-hq/fermata/test/process"
	"github.com/fermata-hq/fermata/test/seams"
)

func TestMain(m *testing.M) { agent.Main(m) }

// Random sequences of all verbs break no law if the agents are Claude Code.
func TestSeams(t *testing.T) {
	t.Parallel()
	for name, database := range databasesFor(calmOn) {
		t.Run(name, func(t *testing.T) {
			search(t, database(t), seams.Real, seams.Search{Parallel: 2})
		})
	}
}

// Sequences in which servers and workers are killed and stopped break no law either.
func TestRoughSeams(t *testing.T) {
	t.Parallel()
	for name, database := range databasesFor(roughOn) {
		t.Run(name, func(t *testing.T) {
			search(t, database(t), seams.RealRough, seams.Search{Parallel: 1})
		})
	}
}

// databases maps a name to a function that returns the flags of an empty database.
type databases map[string]func(testing.TB) []string

var each = databases{"sqlite": process.SQLite, "postgres": process.Postgres}

// databasesFor returns usual, or all databases when a given sequence is replayed.
func databasesFor(usual databases) databases {
	if os.Getenv("FERMATA_SEQUENCE") != "" {
		return each
	}
	return usual
}

func search(t *testing.T, database []string, kind seams.Kind, s seams.Search) {
	t.Helper()
	w := seams.NewWorld(t, agent.Fermata(t), database, kind)
	if w.ReplayGiven() {
		return
	}
	s.Duration, s.ShrinkTime, s.Corpus = searched, time.Minute, true
	s.RunAndReport(w)
}

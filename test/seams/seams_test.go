package seams

import (
	"testing"

	"github.com/fermata-hq/fermata/test/agent"
	"github.com/fermata-hq/fermata/test/process"
)

func TestMain(m *testing.M) { process.Main(m) }

// Random sequences of all verbs break no law.
func TestSeams(t *testing.T) {
	process.RunOnEachDatabase(t, func(t *testing.T, database []string) {
		t.Parallel()
		w := NewWorld(t, agent.Fermata(t), database, Calm)
		if !w.ReplayGiven() {
			calm.RunAndReport(w)
		}
	})
}

// Sequences in which servers and workers are killed and stopped break no law either.
func TestRoughSeams(t *testing.T) {
	process.RunOnEachDatabase(t, func(t *testing.T, database []string) {
		t.Parallel()
		w := NewWorld(t, agent.Fermata(t), database, Rough)
		if !w.ReplayGiven() {
			rough.RunAndReport(w)
		}
	})
}

// Package race lets many clients close the same questions at once and checks the
// replies: every question has one end, and from then on every reply gives this
// end (linearizability, with porcupine).
package race

import (
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/fermata-hq/fermata/test/process"
)

func TestMain(m *testing.M) { process.Main(m) }

func TestOneEnd(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		server := process.Serve(t, process.Binary(t), process.SQLite(t))
		oneEnd(t, server)
	})
	t.Run("postgres, two replicas", func(t *testing.T) {
		database := process.Postgres(t)
		first := process.Serve(t, process.Binary(t), database)
		second := process.Serve(t, process.Binary(t), database)
		oneEnd(t, first, second)
	})
}

func oneEnd(t *testing.T, servers ...*process.Server) {
	a := newArena(t, servers...)
	a.play(questions)
	for _, fault := range a.faults {
		t.Error(fault)
	}
	result := porcupine.CheckOperationsTimeout(oneEndModel, a.history, checksWithin)
	if result != porcupine.Ok {
		t.Errorf("the history of %d operations is %s", len(a.history), result)
		explain(t, a.history)
	}
	t.Logf("%d operations on %d questions: %s; ends: %v", len(a.history), questions, result, a.tally())
}

// The seeded bug lets a question be closed a second time. If the check does not
// find it, the check is worthless.
func TestSeededBugIsFound(t *testing.T) {
	server := process.Serve(t, process.Binary(t, process.TagFlag(process.BugSettleClosed)), process.SQLite(t))
	a := newArena(t, server)
	a.play(seededQuestions)
	result := porcupine.CheckOperationsTimeout(oneEndModel, a.history, checksWithin)
	if result != porcupine.Illegal {
		t.Fatalf("the history of the program with the bug %s is %s: the check finds nothing", process.BugSettleClosed, result)
	}
	t.Logf("%d operations on %d questions, %d replies that the model does not know: %s, as it must be",
		len(a.history), seededQuestions, len(a.faults), result)
}

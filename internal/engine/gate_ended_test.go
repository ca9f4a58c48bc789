package engine_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
)

// The session of a cancelled task may do nothing more, whatever a rule allows, until a
// person reopens the task.
func TestTheGateOfACancelledSessionDenies(t *testing.T) {
	each(t, func(w *world) {
		w.rule(fermata.NewGateRule{Tool: "Read", Decision: fermata.GateAllow})
		read := fermata.GateCall{SessionKey: "s1", Runner: "claude", Tool: "Read"}
		w.gate(read, fermata.GateAllow)
		asked := w.gate(bash("s1", "c1", "git push"), fermata.GateAsk)
		w.equal(asked.TaskID, w.gate(read, fermata.GateAllow).TaskID)

		_, err := w.e.CancelTask(w.Context(), w.alice, asked.TaskID, "not like this")
		w.ok(err)
		before := w.head()
		for _, dry := range []bool{false, true} {
			read.DryRun = dry
			w.equal(fermata.ActorSystem, w.gate(read, fermata.GateDeny).DecidedBy)
		}
		read.DryRun = false
		w.equal(asked.TaskID, w.gate(bash("s1", "c2", "git pull"), fermata.GateDeny).TaskID)
		w.equal(before+2, w.head())
		other := fermata.GateCall{SessionKey: "s2", Runner: "claude", Tool: "Read"}
		w.gate(other, fermata.GateAllow)

		_, err = w.e.ReopenTask(w.Context(), w.alice, asked.TaskID)
		w.ok(err)
		w.gate(read, fermata.GateAllow)
	})
}

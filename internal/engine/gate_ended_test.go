package engine_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

// The session of a cancelled task may do nothing, whatever a rule allows, until a person reopens the task.
func TestTheGateOfACancelledSessionDenies(t *testing.T) {
	each(t, func(w *world) {
		w.rule(fermata.NewGateRule{Tool: "Read", Decision: fermata.GateAllow})
		read := fermata.GateCall{SessionKey: "s1", Runner: "claude", Tool: "Read"}
		w.gate(read, fermata.GateAllow)
		asked := w.gate(bash("s1", "c1", "git push"), fermata.GateAsk)
		w.Equal(asked.TaskID, w.gate(read, fermata.GateAllow).TaskID)

		_, err := w.Engine.CancelTask(w.Context(), w.alice, asked.TaskID, "not like this")
		w.OK(err)
		before := w.Head()
		for _, dry := range []bool{false, true} {
			read.DryRun = dry
			w.Equal(fermata.ActorSystem, w.gate(read, fermata.GateDeny).DecidedBy)
		}
		read.DryRun = false
		w.Equal(asked.TaskID, w.gate(bash("s1", "c2", "git pull"), fermata.GateDeny).TaskID)
		w.Equal(before+2, w.Head())
		other := fermata.GateCall{SessionKey: "s2", Runner: "claude", Tool: "Read"}
		w.gate(other, fermata.GateAllow)

		_, err = w.Engine.ReopenTask(w.Context(), w.alice, asked.TaskID)
		w.OK(err)
		w.gate(read, fermata.GateAllow)
	})
}

// A session continues if its task ended in another way, because no person stopped it.
func TestTheGateOfASessionThatWasNotCancelled(t *testing.T) {
	each(t, func(w *world) {
		w.rule(fermata.NewGateRule{Tool: "Read", Decision: fermata.GateAllow})
		read := fermata.GateCall{SessionKey: "s1", Runner: "claude", Tool: "Read"}
		asked := w.askExternal("s1", fermata.Ask{Question: "Which?", Timeout: "10m", OnTimeout: fermata.FailTask})
		w.sweep(time.Hour)
		w.checkState(asked.TaskID, fermata.TaskFailed)
		w.gate(read, fermata.GateAllow)

		done := w.askExternal("s1", format)
		w.answer(done.ID, "toml")
		w.finishExternal(done.TaskID)
		w.gate(read, fermata.GateAllow)
	})
}

// An agent cannot let its own stopped session continue with a new task. A person can.
func TestAStoppedSessionStaysStopped(t *testing.T) {
	each(t, func(w *world) {
		w.rule(fermata.NewGateRule{Tool: "Read", Decision: fermata.GateAllow})
		read := fermata.GateCall{SessionKey: "s1", Runner: "claude", Tool: "Read"}
		stopped := w.askExternal("s1", format).TaskID
		w.cancel(stopped)
		n := fermata.NewTask{Title: "session", Runner: fermata.RunnerExternal, SessionKey: "s1"}
		for range 2 {
			_, err := w.Engine.CreateTask(w.Context(), w.agent, n)
			w.CheckRefused(err, fermata.CodeIllegalTransition)
			_, err = w.Engine.AskExternal(w.Context(), w.agent, "", "s1", fermata.Ask{Question: "And?"})
			w.CheckRefused(err, fermata.CodeIllegalTransition)
			w.gate(read, fermata.GateDeny)
		}
		_, err := w.Engine.ReopenTask(w.Context(), w.alice, stopped)
		w.OK(err)
		w.gate(read, fermata.GateAllow)
		w.Equal(stopped, w.askExternal("s1", fermata.Ask{Question: "And?"}).TaskID)
	})
}

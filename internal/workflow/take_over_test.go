package workflow_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

// A process that is the only one on its database does not wait for the leases of the previous process.
func TestRunsOfAKilledServerGoOnAtOnce(t *testing.T) {
	onBoth(t, func(w *world) {
		w.stop()
		run := w.run("name: plain\ntriggers: [{manual: true}]\nsteps: [{id: one, tool: note}]\n", nil)
		_, err := w.Engine.ClaimWorkflow(w.Context(), admin.WorkspaceID, "killed", time.Hour, 0)
		w.OK(err)
		w.Engine, w.s = w.process(nil)
		w.OK(w.s.TakeOver(w.Context()))
		w.start()
		w.wantSteps(w.await(run.ID, fermata.TaskDone), "one/1:done ")
	})
}

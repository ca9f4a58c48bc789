package workflow_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
)

const commandWorkflow = "name: slow\ntriggers: [{manual: true}]\nsteps:\n  - {id: make, tool: shell, input: {run: make}}\n"

// away stops the process, and starts another one after some time.
func (w *world) away(d time.Duration) {
	w.Helper()
	w.stop()
	w.Clock.Advance(d)
	w.Engine, w.s = w.process(nil)
	w.start()
}

// claimCommand gives the next command to a worker with a lease of a minute.
func (w *world) claimCommand() *fermata.Claim {
	w.Helper()
	claim, err := w.Engine.Claim(w.Context(), worker, fermata.ClaimRequest{Worker: "w", Runners: []string{"shell"}, LeaseSeconds: 60, WaitSeconds: 20})
	w.OK(err)
	return claim
}

// A command that was run twice says so, and says why: the worker, or the server.
func TestACommandThatIsRunAgainSaysWhy(t *testing.T) {
	for name, tt := range map[string]struct {
		interrupt func(w *world, claim *fermata.Claim)
		want      string
	}{
		"the worker is lost":            {func(w *world, _ *fermata.Claim) { w.Clock.Advance(61 * time.Second) }, "run again: the worker w was lost"},
		"the server is away for longer": {func(w *world, _ *fermata.Claim) { w.away(61 * time.Second) }, "run again: the server was away when the lease ended"},
		"the server is away for less": {func(w *world, claim *fermata.Claim) {
			w.away(45 * time.Second)
			_, err := w.Engine.Release(w.Context(), worker, claim.Run.ID, claim.Run.Token)
			w.OK(err)
		}, "run again: the server could not be reached before the lease ended"},
		"the worker stops": {func(w *world, claim *fermata.Claim) {
			_, err := w.Engine.Release(w.Context(), worker, claim.Run.ID, claim.Run.Token)
			w.OK(err)
		}, "run again: the worker w handed it back"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				run := w.run(commandWorkflow, nil)
				tt.interrupt(w, w.claimCommand())
				w.work(fermata.Finish{Result: fermata.ResultCompleted, Summary: "made"})
				step := w.await(run.ID, fermata.TaskDone).Steps[0]
				if step.Note != tt.want {
					w.Errorf("the note is %q, want %q", step.Note, tt.want)
				}
				if why := strings.TrimPrefix(tt.want, "run again: "); strings.Contains(why, "the server") && !strings.Contains(w.storedText(run.ID), `"summary":"`+why) {
					w.Errorf("no event of the task says that %s", why)
				}
			})
		})
	}
}

// A command that may run only once says that the server was away, and not that its worker was lost.
func TestACommandThatIsNotRunAgainSaysWhy(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run("name: once\ntriggers: [{manual: true}]\nsteps:\n  - {id: make, tool: shell, input: {run: make}, retry: {attempts: 1}}\n", nil)
		w.claimCommand()
		w.away(61 * time.Second)
		failed := w.await(run.ID, fermata.TaskFailed)
		if e, want := failed.Steps[0].Error, "the server was away when the lease ended, and it is not run again"; e == nil || e.Message != want {
			w.Errorf("the error is %+v, want %q", e, want)
		}
	})
}

// A call of the server that a restart interrupted is made again, and the step says so.
func TestACallThatIsMadeAgainSaysSo(t *testing.T) {
	const again = "done again: the server was interrupted during the call"
	for name, tt := range map[string]struct {
		steps string
		notes []string
	}{
		"a step":       {"  - {id: pay, tool: apply}\n", []string{again}},
		"one of two":   {"  - {id: before, tool: note}\n  - {id: pay, tool: apply}\n", []string{"", again}},
		"items":        {"  - {id: pay, tool: apply, foreach: [1]}\n", []string{"its open items were done again: the server was interrupted during the calls", ""}},
		"with retries": {"  - {id: pay, tool: apply, retry: {attempts: 2}}\n  - {id: after, tool: note}\n", []string{again, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				entered := w.blockCall("apply", 1)
				run := w.run("name: pays\ntriggers: [{manual: true}]\nsteps:\n"+tt.steps, nil)
				patience.Receive(w, "the tool is called", entered)
				w.restart()
				run = w.await(run.ID, fermata.TaskDone)
				for i, step := range run.Steps {
					if step.Note != tt.notes[i] {
						w.Errorf("the note of %s is %q, want %q", step.Step, step.Note, tt.notes[i])
					}
				}
			})
		})
	}
}

//go:build unix

package acp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

// A call that no gate permitted ends the run and all processes of the agent. It does not matter whether the agent never
// asked, was refused, or reused the id of a permitted call.
func TestACallThatNoGateSawFailsTheRun(t *testing.T) {
	t.Parallel()
	for does, want := range map[string]string{
		actsUnasked: "ran without asking", failsUnasked: "ran without asking", leavesRunning: "ran without asking",
		defies: "ran although it was refused", usesTwice: "ran without asking",
	} {
		t.Run(does, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			decision := fermata.GateDeny
			if does == usesTwice {
				decision = fermata.GateAllow
			}
			_, err := w.person.AddGateRule(t.Context(), fermata.NewGateRule{Tool: "*", Decision: decision})
			w.OK(err)
			task := w.task(push)
			w.mustRun(does, patient)
			failed := w.wantState(task.ID, fermata.TaskFailed, want)
			if !strings.Contains(failed.Summary, "no gate permitted") || !strings.Contains(failed.Summary, "execute") {
				t.Errorf("the summary is %q", failed.Summary)
			}
		})
	}
}

// A call that only reads needs no permission. A session that begins in a mode without questions is switched to the mode
// that asks.
func TestWhatOnlyLooksGoesOn(t *testing.T) {
	t.Parallel()
	for does, want := range map[string]string{looks: "done", wasOpen: askMode} {
		fin, _ := play(t, standInOptions(t, does, 10*time.Second, sessionsEnv+"="+t.TempDir()))
		if fin.Result != "" || fin.Summary != want {
			t.Errorf("%s: got %q %q, want %q", does, fin.Result, fin.Summary, want)
		}
	}
}

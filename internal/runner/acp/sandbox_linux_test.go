package acp_test

import (
	"os"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/process"
)

// A hook that the agent calls recognizes its run, in a sandbox and without one.
func TestAgentKnowsItsRun(t *testing.T) {
	t.Parallel()
	for name, isolated := range map[string]bool{"isolated": true, "not isolated": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if isolated {
				program, err := process.FindSandbox(t.Context())
				w.OK(err)
				self, err := os.Executable()
				w.OK(err)
				w.sandbox = &process.Sandbox{Program: program, Read: []string{self}, Write: []string{w.sessions}}
			}
			task := w.task("")
			w.mustRun(knowsItsRun, patient)
			w.wantState(task.ID, fermata.TaskDone, "true")
		})
	}
}

package workflow_test

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

// The note of a step says which bytes of a command's output are missing from
// the output of the step.
func TestWhatACommandPrintedIsNoted(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run("name: print\ntriggers: [{manual: true}]\nsteps: [{id: image, tool: shell, input: {run: cat image.png}}]\n", nil)
		w.work(fermata.Finish{Result: fermata.ResultCompleted, Details: []byte(`{"exit_code":0,"output":"` + "\uFFFD" + `PNG","left_out":70}`)})
		run = w.await(run.ID, fermata.TaskDone)
		for _, want := range []string{"the first 70 bytes of what it printed were left out", "each \uFFFD in its output stands for bytes that are no UTF-8 text"} {
			if note := run.Steps[0].Note; !strings.Contains(note, want) {
				w.Errorf("the note %q does not say %q", note, want)
			}
		}
	})
}

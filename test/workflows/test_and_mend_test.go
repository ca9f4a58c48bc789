package workflows

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/process"
)

// The commands of the README: an agent fixes two faults by itself, and the third with a person's hint.
func TestTestAndMend(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "test-and-mend", process.SQLite(t))
	w.script(w.readme())
	run := w.run("test-and-mend", fermata.TaskDone)
	if got := w.git(w.project, "show", "fermata/"+run.ID+":words.txt"); got != "ant\nbee\nemu\nzebra" {
		t.Errorf("the words are\n%s", got)
	}
	if test := w.step(run, "test"); test.Occurrence != 5 || test.State != fermata.StepDone {
		t.Errorf("the tests ran %d times, and are %s", test.Occurrence, test.State)
	}
	for _, s := range run.Steps {
		if s.Step == "test" && s.Occurrence == 2 && (*s.Error.ExitCode == 0 || !strings.Contains(s.Error.Stderr, "disorder")) {
			t.Errorf("the second round says %+v", s.Error)
		}
		if s.Step == "mend" && s.Occurrence == 4 && !strings.Contains(string(s.Input), "A person says: the last animal is a zebra") {
			t.Errorf("the agent was not told: %s", s.Input)
		}
	}
}

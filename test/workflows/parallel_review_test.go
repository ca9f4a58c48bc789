package workflows

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/process"
)

// The commands of the README: two agents and a person agree, and the page is published.
func TestParallelReview(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "parallel-review", process.SQLite(t))
	w.script(w.readme())
	run := w.run("parallel-review", fermata.TaskDone)
	if got := w.git(w.project, "show", "fermata/"+run.ID+":public/page.md"); !strings.Contains(got, "Ring the bell") {
		t.Errorf("the page is\n%s", got)
	}
	if s := w.step(run, "doubts"); s.State != fermata.StepSkipped {
		t.Errorf("the question about doubts is %s", s.State)
	}
	for _, s := range run.Steps {
		if s.Step == "wording" && string(s.Output) != `{"findings":[],"good":true}` {
			t.Errorf("the agent said %s", s.Output)
		}
	}
}

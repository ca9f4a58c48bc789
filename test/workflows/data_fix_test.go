package workflows

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

const corrected = "id,name,country\n1,Ann,DE\n2,Bob,DE\n3,Cho,DE"

// The commands of the README, on both databases.
func TestDataFix(t *testing.T) {
	t.Parallel()
	process.RunOnEachDatabase(t, func(t *testing.T, database []string) {
		t.Parallel()
		w := newWorld(t, "data-fix", database)
		w.script(w.readme())
		run := w.run("data-fix", fermata.TaskDone)
		if got := w.git(w.project, "show", "fermata/"+run.ID+":customers.csv"); got != corrected {
			t.Errorf("the corrected table is\n%s", got)
		}
		if got := w.git(w.project, "status", "--porcelain"); got != "" {
			t.Errorf("the person's own files changed:\n%s", got)
		}
		if fix := w.step(run, "fix"); fix.Attempt != 3 || !strings.Contains(string(fix.Input), `"DE"`) {
			t.Errorf("fix took %d attempts, the last with %s", fix.Attempt, fix.Input)
		}
	})
}

// newDataFix copies the example into a new git repository, as its README does.
func newDataFix(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, "data-fix", process.SQLite(t))
	w.git(w.project, "init", "-q")
	w.git(w.project, "add", ".")
	w.git(w.project, "commit", "-qm", "The data as it was")
	return w
}

// A person writes the missing file into the working copy of the run. The step then succeeds.
func TestDataFixWithTheFile(t *testing.T) {
	t.Parallel()
	w := newDataFix(t)
	log := filepath.Join(w.home, "worker.log")
	w.script("fermata worker --workdir . --allow-task-commands 2>" + log + " & fermata workflow put data-fix.yaml; fermata workflow run data-fix -i table=customers")
	run := w.run("data-fix", fermata.TaskAwaitingApproval)
	w.script("fermata approve " + run.ID + " --yes")
	run = w.run("data-fix", fermata.TaskAwaitingInput)
	if q := run.PendingQuestion; q == nil || q.Type != fermata.ErrorRecovery || !strings.Contains(q.Body, "write it into the file default-country") {
		t.Fatalf("it asks %+v", q)
	}
	// The server learns of the failure before the worker has cleaned up, so wait for the worker.
	patience.Await(t, "the worker has put back what the second attempt did", func() bool {
		text, err := os.ReadFile(log)
		w.OK(err)
		return strings.Count(string(text), "a run failed") == 2
	})
	folder := ""
	for line := range strings.Lines(w.git(w.project, "worktree", "list", "--porcelain")) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "worktree "); ok && strings.HasSuffix(path, run.ID) {
			folder = path
		}
	}
	if folder == "" {
		t.Fatalf("no worktree of %s:\n%s", run.ID, w.git(w.project, "worktree", "list"))
	}
	w.OK(os.WriteFile(filepath.Join(folder, "default-country"), []byte("DE\n"), 0o600))
	w.script("fermata respond " + run.ID + " retry")
	w.run("data-fix", fermata.TaskDone)
	if got := w.git(w.project, "show", "fermata/"+run.ID+":customers.csv"); got != corrected {
		t.Errorf("the corrected table is\n%s", got)
	}
}

// If a person rejects the fix, the data stays unchanged.
func TestDataFixRejected(t *testing.T) {
	t.Parallel()
	w := newDataFix(t)
	w.script("fermata worker --workdir . --allow-task-commands & fermata workflow put data-fix.yaml; fermata workflow run data-fix -i table=customers")
	run := w.run("data-fix", fermata.TaskAwaitingApproval)
	if run.PendingQuestion.Title != "Correct 2 rows of customers?" {
		t.Errorf("it asks %q", run.PendingQuestion.Title)
	}
	w.script("fermata reject " + run.ID + " -m 'not today' || test $? = 3")
	run = w.run("data-fix", fermata.TaskDone)
	if fix := w.step(run, "fix"); fix.State != fermata.StepSkipped {
		t.Errorf("fix is %s", fix.State)
	}
	tasks, _, err := w.admin.Tasks(t.Context(), client.TaskQuery{ParentID: run.ID})
	w.OK(err)
	if len(tasks) != 1 {
		t.Errorf("%d tasks were made below the run", len(tasks))
	}
}

// If there is nothing to correct, no person is asked.
func TestDataFixOfGoodData(t *testing.T) {
	t.Parallel()
	w := newDataFix(t)
	w.script("fermata worker --workdir . --allow-task-commands & fermata workflow put data-fix.yaml; fermata workflow run data-fix -i table=orders")
	run := w.run("data-fix", fermata.TaskDone)
	for _, id := range []string{"confirm", "fix", "verify"} {
		if s := w.step(run, id); s.State != fermata.StepSkipped {
			t.Errorf("%s is %s", id, s.State)
		}
	}
}

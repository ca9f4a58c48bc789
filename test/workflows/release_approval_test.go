package workflows

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

func TestReleaseApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "release-approval", process.SQLite(t))
	script := w.readme()
	before, approvals, _ := strings.Cut(script, "until fermata approve")
	// The person who started the run may not approve, even if nobody else has voted.
	out := w.script(before + `
until test "$(fermata list --awaiting)"; do :; done
code=0; fermata approve $RUN --yes || code=$?
test $code = 4
until fermata approve` + approvals)
	if !strings.Contains(out, "your vote counts: 1 of 2") {
		t.Errorf("the script printed\n%s", out)
	}
	run := w.run("release-approval", fermata.TaskDone)
	if tags := w.git(w.project, "ls-remote", "--tags", "origin"); !strings.HasSuffix(tags, "refs/tags/v1.4.0") {
		t.Errorf("the origin has the tags %q", tags)
	}
	q, err := w.admin.Question(t.Context(), w.step(run, "approve").QuestionID)
	w.OK(err)
	var voters []string
	for _, v := range q.Votes {
		voters = append(voters, v.By.Name+" "+v.Value)
	}
	if got := strings.Join(voters, ", "); got != "ann approve, ben approve" {
		t.Errorf("the votes are %s", got)
	}
}

// One rejection ends the run. A version that is released already is not built again.
func TestReleaseRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "release-approval", process.SQLite(t))
	before, _, _ := strings.Cut(w.readme(), "until fermata approve")
	w.script(before + "until fermata reject $RUN --token $ANN -m 'the notes are missing' || test $? = 3; do :; done")
	run := w.run("release-approval", fermata.TaskFailed)
	if !strings.Contains(run.Summary, "the notes are missing") {
		t.Errorf("it ended with %q", run.Summary)
	}
	if tags := w.git(w.project, "ls-remote", "--tags", "origin"); tags != "" {
		t.Errorf("the origin has the tags %q", tags)
	}
	w.git(w.project, "tag", "v1.4.1")
	w.git(w.project, "push", "-q", "origin", "v1.4.1")
	id := strings.TrimSpace(w.script("fermata workflow run release-approval -i version=1.4.1 2>/dev/null"))
	patience.Await(t, "the run of a version that is released fails", func() bool {
		run, err := w.admin.WorkflowRun(t.Context(), id)
		w.OK(err)
		return run.State == fermata.TaskFailed && strings.Contains(run.Summary, "v1.4.1 is released already")
	})
}

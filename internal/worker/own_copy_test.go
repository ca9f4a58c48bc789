//go:build unix

package worker_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/internal/worker"
	"github.com/fermata-hq/fermata/internal/workflow"
	"github.com/fermata-hq/fermata/test/patience"
)

// newBranchedTask creates a task with a working copy of its own that begins at the branch of another task.
func (w *world) newBranchedTask(of *fermata.Task, script string) *fermata.Task {
	w.Helper()
	spec, err := json.Marshal(map[string]any{"command": []string{"sh", "-c", script}, "from": of.ID})
	w.OK(err)
	t, err := w.person.CreateTask(w.Context(), fermata.NewTask{Title: "Apart", Spec: spec})
	w.OK(err)
	return t
}

func TestATaskBeginsAtTheBranchOfAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	flow := w.newFlowTask()
	w.awaitState(w.runStep(flow).ID, fermata.TaskDone)
	apart := w.newBranchedTask(flow, `pwd; cat one.txt; echo apart >apart.txt; cat one.txt`)
	w.runOnce()
	done := w.awaitState(apart.ID, fermata.TaskDone)
	if done.Summary != "one" || done.Session.Branch != "fermata/"+apart.ID || !strings.Contains(w.log(done.RunID), w.worktree(apart)+"\n") {
		t.Errorf("got %q on %+v: %s", done.Summary, done.Session, w.log(done.RunID))
	}
	if parent := run(t, w.repo, "rev-parse", "fermata/"+apart.ID+"^"); parent != run(t, w.repo, "rev-parse", "fermata/"+flow.ID) {
		t.Errorf("it began at %s", parent)
	}
	if exists(w.worktree(apart)) {
		t.Error("the worktree of the done task is still there")
	}
}

// The first step that works in the copy of the run creates the run's branch.
func TestATaskBeginsAtABranchThatIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	apart := w.newBranchedTask(w.newFlowTask(), `ls`)
	w.runOnce()
	if done := w.awaitState(apart.ID, fermata.TaskDone); done.Summary != "README.md" {
		t.Errorf("it found %q", done.Summary)
	}
	if at := run(t, w.repo, "rev-parse", "fermata/"+apart.ID); at != run(t, w.repo, "rev-parse", "main") {
		t.Errorf("it began at %s", at)
	}
}

// Without a repository there are no branches, so a later step could not find the branch of the task.
func TestATaskBeginsAtNoBranchWithoutARepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.copies.WorkDir = t.TempDir()
	apart := w.newBranchedTask(w.newFlowTask(), `ls`)
	w.runOnce()
	if failed := w.awaitState(apart.ID, fermata.TaskFailed); !strings.Contains(failed.Summary, "no branch to begin at") {
		t.Errorf("the summary is %q", failed.Summary)
	}
}

// The place where a task began stays the same, whatever is committed to the other branch meanwhile. A task that waits
// finds its work, and a failed task is rolled back to that place.
func TestATaskStaysWhereItBegan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	flow := w.newFlowTask()
	w.awaitState(w.runStep(flow).ID, fermata.TaskDone)
	began := run(t, w.repo, "rev-parse", "fermata/"+flow.ID)
	apart := w.newBranchedTask(flow, `if [ "$FERMATA_RESUMED" = 1 ]; then ls; exit 3; fi
		echo half >half.txt; echo '{"result":"needs_input","question":{"question":"Which colour?"}}'`)
	w.runOnce()
	stopped := w.awaitState(apart.ID, fermata.TaskAwaitingInput)
	later := w.newStepTask(flow, `echo two >two.txt`, nil)
	w.runOnce()
	w.awaitState(later.ID, fermata.TaskDone)
	w.answer(stopped, "green")
	w.runOnce()
	failed := w.awaitState(apart.ID, fermata.TaskFailed)
	if log := w.log(failed.RunID); !strings.Contains(log, "README.md\nhalf.txt\none.txt\n") {
		t.Errorf("it found %s", log)
	}
	if at := run(t, w.repo, "rev-parse", "fermata/"+apart.ID); at != began || run(t, w.worktree(apart), "status", "--porcelain") != "" {
		t.Errorf("it went back to %s, and began at %s", at, began)
	}
}

// startWorkflows starts the workflow service and returns it.
func (w *world) startWorkflows() *workflow.Service {
	w.Helper()
	s := workflow.New(workflow.Options{DB: w.DB, Engine: w.Engine})
	w.OK(w.Engine.Start(w.Context()))
	testkit.Run(w, w.Engine.RunTail, w.Engine.RunSweeps, s.Run)
	return s
}

// runWorkflow registers the tools, starts a run of the workflow, and waits for its end.
func (w *world) runWorkflow(s *workflow.Service, source string, tools ...*fermata.NamedTool) *fermata.WorkflowRun {
	w.Helper()
	for _, n := range tools {
		_, err := s.PutNamedTool(w.Context(), testkit.Admin, n)
		w.OK(err)
	}
	kept, err := s.Put(w.Context(), testkit.Admin, "", workflow.Definition{Source: source})
	w.OK(err)
	started, err := s.Start(w.Context(), testkit.Admin, kept.Name, nil)
	w.OK(err)
	var ended *fermata.WorkflowRun
	patience.Await(w, "the run ends", func() bool {
		ended, err = s.RunDetails(w.Context(), testkit.Admin, started.ID)
		w.OK(err)
		return ended.State.IsEnded()
	})
	return ended
}

// files returns the names of the files on a branch.
func (w *world) files(branch string) string {
	w.Helper()
	return strings.ReplaceAll(run(w.T, w.repo, "ls-tree", "-r", "--name-only", branch), "\n", " ")
}

// meet returns a command that ends only after its counterpart has begun as well: each opens the pipe of the other.
func meet(mine, other, script string) string {
	return `(echo here >` + other + `) & read word <` + mine + `; wait; ` + script
}

// Two branches of a run work at the same time, each in its own copy, and a third step combines their results.
func TestStepsInCopiesOfTheirOwnWorkAtTheSameTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bare := w.addOrigin()
	s := w.startWorkflows()
	w.start(worker.Options{Slots: 2})
	left, right := pipe(t), pipe(t)
	ended := w.runWorkflow(s, `
name: apart
triggers: [{manual: true}]
steps:
  - {id: plan, tool: shell, input: {run: echo plan >plan.txt}}
  - {id: left, tool: shell, working_copy: own, needs: [plan], input: {run: "`+meet(left, right, `cat plan.txt; test ! -e right.txt; echo left >left.txt`)+`"}}
  - {id: right, tool: mend, working_copy: own, needs: [plan]}
  - id: merge
    tool: shell
    needs: [left, right]
    input:
      command: [git, -c, user.name=ci, -c, user.email=ci@example.com, merge, --no-edit, "{{ steps.left.branch }}", "{{ steps.right.branch }}"]
  - {id: behind, tool: shell, input: {run: cat left.txt right.txt; git push origin HEAD}}
`, &fermata.NamedTool{Name: "mend", Command: []string{"sh", "-euc", meet(right, left, `test ! -e left.txt; echo right >right.txt`)}})
	if ended.State != fermata.TaskDone {
		t.Fatalf("the run is %s: %s", ended.State, ended.Summary)
	}
	branch := "fermata/" + ended.ID
	if got := w.files(branch); got != "README.md left.txt plan.txt right.txt" {
		t.Errorf("on the branch of the run is %s", got)
	}
	children := w.children(ended)
	for step, want := range map[string]string{"left": "README.md left.txt plan.txt", "right": "README.md plan.txt right.txt"} {
		if got := w.files("fermata/" + children[step]); got != want {
			t.Errorf("on the branch of the step %s is %s", step, got)
		}
	}
	if at := run(t, bare, "rev-parse", branch); at != run(t, w.repo, "rev-parse", branch) {
		t.Errorf("at origin stands %s", at)
	}
}

// children returns the latest task of each step.
func (w *world) children(r *fermata.WorkflowRun) map[string]string {
	children := map[string]string{}
	for _, s := range r.Steps {
		if s.Item == nil {
			children[s.Step] = s.ChildID
		}
	}
	return children
}

// Each item works in its own copy. The branches are listed in the order of the items.
func TestItemsInCopiesOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.startWorkflows()
	w.start(worker.Options{Slots: 2})
	pipes := []string{pipe(t), pipe(t)}
	ended := w.runWorkflow(s, `
name: items
triggers: [{manual: true}]
steps:
  - id: each
    tool: shell
    working_copy: own
    foreach: [0, 1]
    parallel: 2
    input: {command: [sh, -euc, '(echo here >"$2") & read word <"$1"; wait; echo "$3" >"$3.txt"', sh, "{{ index == 0 ? '`+pipes[0]+`' : '`+pipes[1]+`' }}", "{{ index == 0 ? '`+pipes[1]+`' : '`+pipes[0]+`' }}", "item{{ item }}"]}
  - {id: first, tool: shell, input: {command: [git, merge, --no-edit, "{{ steps.each.branch[0] }}"]}}
  - {id: all, tool: shell, input: {command: [sh, -euc, 'git -c user.name=ci -c user.email=ci@example.com merge --no-edit $1', sh, "{{ join(steps.each.branch, ' ') }}"]}}
`)
	if ended.State != fermata.TaskDone {
		t.Fatalf("the run is %s: %s", ended.State, ended.Summary)
	}
	if got := w.files("fermata/" + ended.ID); got != "README.md item0.txt item1.txt" {
		t.Errorf("on the branch of the run is %s", got)
	}
}

// The worker commits a merge that a step began. Git needs no configured name for that.
func TestAMergeThatConflictsIsLeftToAStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.startWorkflows()
	w.start(worker.Options{Slots: 2})
	ended := w.runWorkflow(s, `
name: conflict
triggers: [{manual: true}]
steps:
  - {id: left, tool: shell, working_copy: own, input: {run: echo left >word.txt}}
  - {id: right, tool: shell, working_copy: own, needs: [], input: {run: echo right >word.txt}}
  - {id: first, tool: shell, needs: [left, right], input: {command: [git, merge, --no-edit, "{{ steps.left.branch }}"]}}
  - id: second
    tool: shell
    input: {command: [sh, -uc, 'git -c user.name=ci -c user.email=ci@example.com merge --no-edit "$1" && exit 1; echo both >word.txt', sh, "{{ steps.right.branch }}"]}
`)
	if ended.State != fermata.TaskDone {
		t.Fatalf("the run is %s: %s", ended.State, ended.Summary)
	}
	branch, children := "fermata/"+ended.ID, w.children(ended)
	if text := run(t, w.repo, "show", branch+":word.txt"); text != "both" {
		t.Errorf("the branch has %q", text)
	}
	parents := strings.Fields(run(t, w.repo, "log", "-1", "--format=%P", branch))
	want := []string{run(t, w.repo, "rev-parse", "fermata/"+children["left"]), run(t, w.repo, "rev-parse", "fermata/"+children["right"])}
	if !slices.Equal(parents, want) {
		t.Errorf("the merge is of %v, not %v", parents, want)
	}
}

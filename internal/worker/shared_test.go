//go:build unix

package worker_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/internal/worker"
	"github.com/fermata-hq/fermata/test/patience"
)

// newStepTask creates a task that works in the working copy of another task.
func (w *world) newStepTask(of *fermata.Task, script string, more map[string]any) *fermata.Task {
	w.Helper()
	spec := map[string]any{"command": []string{"sh", "-c", script}, "working_copy": of.ID}
	for k, v := range more {
		spec[k] = v
	}
	raw, err := json.Marshal(spec)
	w.OK(err)
	t, err := w.person.CreateTask(w.Context(), fermata.NewTask{Title: "Step: " + script[:min(20, len(script))], Spec: raw})
	w.OK(err)
	return t
}

// newFlowTask creates the task that represents the whole run. No worker claims it.
func (w *world) newFlowTask() *fermata.Task {
	w.Helper()
	t, err := w.person.CreateTask(w.Context(), fermata.NewTask{Title: "Flow", Runner: fermata.RunnerExternal})
	w.OK(err)
	return t
}

var pushes = map[string]any{"push": true}

// addOrigin gives the repository a bare remote to push to.
func (w *world) addOrigin() string {
	w.Helper()
	bare := filepath.Join(w.TempDir(), "origin.git")
	run(w.T, w.repo, "init", "--quiet", "--bare", bare)
	run(w.T, w.repo, "remote", "add", "origin", bare)
	return bare
}

func TestStepsShareAWorkingCopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	testkit.OK(t, os.WriteFile(filepath.Join(w.repo, ".gitignore"), []byte("*.out\n"), 0o600))
	run(t, w.repo, "add", ".")
	run(t, w.repo, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "ignore")
	flow := w.newFlowTask()
	first := w.newStepTask(flow, `pwd >place.out; echo one >one.txt`, nil)
	w.runOnce()
	second := w.newStepTask(flow, `[ "$(pwd)" = "$(cat place.out)" ] && cat one.txt && echo two >two.txt && cat one.txt`, nil)
	w.runOnce()
	broken := w.newStepTask(flow, `echo bad >one.txt; echo bad >bad.txt; exit 3`, nil)
	w.runOnce()
	if done := w.awaitState(second.ID, fermata.TaskDone); done.Summary != "one" || done.Session.Branch != "fermata/"+flow.ID {
		t.Errorf("got %q on %+v", done.Summary, done.Session)
	}
	w.awaitState(broken.ID, fermata.TaskFailed)
	w.awaitRelease(flow)
	log := run(t, w.repo, "log", "--reverse", "--format=%(trailers:key=Fermata-Task,valueonly,separator=)", "-2", "fermata/"+flow.ID)
	if log != first.ID+"\n"+second.ID {
		t.Errorf("the branch has commits of %q", log)
	}
	if status := run(t, w.worktree(flow), "status", "--porcelain"); status != "" {
		t.Errorf("the failed step left %q", status)
	}
	if text := run(t, w.repo, "show", "fermata/"+flow.ID+":one.txt"); text != "one" {
		t.Errorf("the failed step took more back than its own: %q", text)
	}
}

func TestSecondStepWaitsForTheFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	flow := w.newFlowTask()
	ready, proceed := pipe(t), pipe(t)
	first := w.newStepTask(flow, `echo ready >`+ready+`; read x <`+proceed+`; echo one >one.txt`, nil)
	w.beat = shortBeat
	w.start(worker.Options{Slots: 2})
	awaitReady(t, ready)
	second := w.newStepTask(flow, `cat one.txt; echo "attempt $FERMATA_ATTEMPT"`, nil)
	claimed := w.awaitState(second.ID, fermata.TaskInProgress)
	w.awaitRenewals(claimed)
	letGo(t, proceed)
	w.awaitState(first.ID, fermata.TaskDone)
	if done := w.awaitState(second.ID, fermata.TaskDone); done.Summary != "attempt 1" || !strings.Contains(w.log(done.RunID), "one\n") {
		t.Errorf("got %q", done.Summary)
	}
}

// awaitRenewals waits until the worker has renewed the lease of a task's run for longer than one lease lasts.
func (w *world) awaitRenewals(claimed *fermata.Task) {
	w.Helper()
	const step = fermata.DefaultLease / 4
	for range 6 {
		before, err := w.person.Run(w.Context(), claimed.RunID)
		w.OK(err)
		w.Clock.Advance(step)
		patience.Await(w, "the lease is renewed", func() bool {
			_, err := w.Engine.Sweep(w.Context())
			w.OK(err)
			now, err := w.person.Run(w.Context(), claimed.RunID)
			w.OK(err)
			if now.State != fermata.RunRunning {
				w.Fatalf("while it waits, its run is %s", now.State)
			}
			return now.LeaseUntil.Sub(before.LeaseUntil) >= step
		})
	}
}

// loseRun lets the lease of a task's run end before its worker renews it.
func (w *world) loseRun(t *fermata.Task) {
	w.Helper()
	claimed := w.awaitState(t.ID, fermata.TaskInProgress)
	for {
		w.Clock.Advance(2 * time.Minute)
		_, err := w.Engine.Sweep(w.Context())
		w.OK(err)
		run, err := w.person.Run(w.Context(), claimed.RunID)
		w.OK(err)
		if run.State == fermata.RunLost {
			return
		}
		// A heartbeat came between the two steps.
	}
}

// A step that waits for an answer keeps its work, whatever happens to the steps that run meanwhile.
func TestStepThatAsksKeepsItsWork(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{
		"uncommitted": `echo half >half.txt`,
		"committed":   `echo half >half.txt; git add half.txt; git commit --quiet --message half`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			flow := w.newFlowTask()
			asking := w.newStepTask(flow, `if [ "$FERMATA_RESUMED" = 1 ]; then cat half.txt; exit; fi
				`+before+`; echo '{"result":"needs_input","question":{"question":"Which colour?"}}'`, nil)
			w.runOnce()
			stopped := w.awaitState(asking.ID, fermata.TaskAwaitingInput)
			broken := w.newStepTask(flow, `rm half.txt; exit 3`, nil)
			w.runOnce()
			w.awaitState(broken.ID, fermata.TaskFailed)
			w.answer(stopped, "green")
			w.runOnce()
			if done := w.awaitState(asking.ID, fermata.TaskDone); done.Summary != "half" {
				t.Errorf("it found %q", done.Summary)
			}
		})
	}
}

func TestSharedCopyWithoutCommits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.copies.OnCompleted = worker.Keep
	flow := w.newFlowTask()
	w.newStepTask(flow, `echo one >one.txt`, nil)
	w.runOnce()
	broken := w.newStepTask(flow, `exit 3`, nil)
	w.runOnce()
	w.awaitState(broken.ID, fermata.TaskFailed)
	if !exists(filepath.Join(w.worktree(flow), "one.txt")) {
		t.Error("a failed step took the work of another back")
	}
}

func TestSharedWorktreeGoesWithItsTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	flow := w.newFlowTask()
	w.awaitState(w.runStep(flow).ID, fermata.TaskDone)
	if !exists(w.worktree(flow)) {
		t.Fatal("the worktree is gone, though steps may follow")
	}
	_, err := w.person.CancelTask(t.Context(), flow.ID, "enough")
	testkit.OK(t, err)
	w.runOnce()
	if exists(w.worktree(flow)) {
		t.Error("the worktree is still there")
	}
	run(t, w.repo, "rev-parse", "--verify", "fermata/"+flow.ID)
	// A later step of the same run finds the branch.
	again := w.newStepTask(flow, `cat one.txt`, nil)
	w.runOnce()
	if done := w.awaitState(again.ID, fermata.TaskDone); done.Summary != "one" {
		t.Errorf("it found %q", done.Summary)
	}
}

func (w *world) runStep(flow *fermata.Task) *fermata.Task {
	w.Helper()
	t := w.newStepTask(flow, `echo one >one.txt`, nil)
	w.runOnce()
	return t
}

func TestPush(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bare := w.addOrigin()
	flow := w.newFlowTask()
	first := w.newStepTask(flow, `echo one >one.txt`, pushes)
	w.runOnce()
	done := w.awaitState(first.ID, fermata.TaskDone)
	if text := run(t, bare, "show", "fermata/"+flow.ID+":one.txt"); text != "one" {
		t.Errorf("at origin stands %q", text)
	}
	if log := w.log(done.RunID); !strings.Contains(log, "Pushed the branch fermata/"+flow.ID) {
		t.Errorf("the log is %q", log)
	}
	unpushed := w.newStepTask(flow, `echo two >two.txt`, nil)
	w.runOnce()
	w.awaitState(unpushed.ID, fermata.TaskDone)
	if n := run(t, bare, "rev-list", "--count", "fermata/"+flow.ID); n != "2" {
		t.Errorf("a step that does not ask for it was pushed: %s commits", n)
	}
	// The step has no changes of its own, so it pushes the existing commits.
	last := w.newStepTask(flow, `true`, pushes)
	w.runOnce()
	w.awaitState(last.ID, fermata.TaskDone)
	if n := run(t, bare, "rev-list", "--count", "fermata/"+flow.ID); n != "3" {
		t.Errorf("at origin are %s commits", n)
	}
}

// A task that shares no working copy can be pushed as well.
func TestPushOfATask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bare := w.addOrigin()
	spec := json.RawMessage(`{"command": ["sh", "-c", "echo one >one.txt"], "push": true}`)
	task, err := w.person.CreateTask(t.Context(), fermata.NewTask{Title: "Paint", Spec: spec})
	testkit.OK(t, err)
	w.runOnce()
	w.awaitState(task.ID, fermata.TaskDone)
	if text := run(t, bare, "show", "fermata/"+task.ID+":one.txt"); text != "one" {
		t.Errorf("at origin stands %q", text)
	}
}

func TestPushThatFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		setUp func(t *testing.T, w *world, flow *fermata.Task)
		words string
	}{
		{"no origin", func(*testing.T, *world, *fermata.Task) {}, "no remote origin: add one"},
		{"an origin that is not there", func(t *testing.T, w *world, _ *fermata.Task) {
			run(t, w.repo, "remote", "add", "origin", filepath.Join(t.TempDir(), "gone.git"))
		}, "does not appear to be a git repository"},
		{"somebody pushed to the branch", func(t *testing.T, w *world, flow *fermata.Task) {
			bare := w.addOrigin()
			first := w.newStepTask(flow, `echo one >one.txt`, pushes)
			w.runOnce()
			w.awaitState(first.ID, fermata.TaskDone)
			other := filepath.Join(t.TempDir(), "other")
			run(t, w.repo, "clone", "--quiet", "--branch", "fermata/"+flow.ID, bare, other)
			run(t, other, "-c", "user.name=b", "-c", "user.email=b@c", "commit", "--quiet", "--allow-empty", "-m", "mine")
			run(t, other, "push", "--quiet")
		}, "rejected"},
		{"no repository", func(t *testing.T, w *world, _ *fermata.Task) { w.copies.WorkDir = t.TempDir() }, "no branch to push"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			flow := w.newFlowTask()
			tt.setUp(t, w, flow)
			task := w.newStepTask(flow, `echo two >two.txt`, pushes)
			w.runOnce()
			failed := w.awaitState(task.ID, fermata.TaskFailed)
			if !strings.Contains(failed.Summary, tt.words) {
				t.Errorf("the summary is %q", failed.Summary)
			}
			w.copies.WorkDir = w.repo
			if strings.Contains(failed.Summary, "could not be pushed") && !exists(filepath.Join(w.worktree(flow), "two.txt")) {
				t.Error("the work is gone")
			}
		})
	}
}

// TestARunThatIsLostWhileItPushesBeginsAgain: the worker stops the push and reports nothing. The server would accept
// the report as long as no other run has begun. Then the task would be done with nothing at origin.
func TestARunThatIsLostWhileItPushesBeginsAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bare := w.addOrigin()
	flow := w.newFlowTask()
	ready, proceed := pipe(t), pipe(t)
	hook := "#!/bin/sh\ntest -e pushed-before && exit 0\ntouch pushed-before\necho ready >" + ready + "\nread x <" + proceed + "\nexit 1\n"
	testkit.OK(t, os.WriteFile(filepath.Join(bare, "hooks", "pre-receive"), []byte(hook), 0o700))
	task := w.newStepTask(flow, `echo "$FERMATA_ATTEMPT" >one.txt`, pushes)
	w.start(worker.Options{})
	awaitReady(t, ready)
	w.loseRun(task)
	w.awaitState(task.ID, fermata.TaskDone)
	letGo(t, proceed)
	w.awaitRelease(flow)
	if text := run(t, bare, "show", "fermata/"+flow.ID+":one.txt"); text != "2" {
		t.Errorf("at origin stands the work of attempt %q", text)
	}
}

// The server refuses the report after the push. So the commit is taken back, and the next attempt may replace it at
// origin.
func TestPushAgainAfterARefusedReport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bare := w.addOrigin()
	flow := w.newFlowTask()
	ready, proceed := pipe(t), pipe(t)
	task := w.newStepTask(flow, `echo "$FERMATA_ATTEMPT" >one.txt
		if [ "$FERMATA_ATTEMPT" = 1 ]; then echo ready >`+ready+`; read x <`+proceed+`; fi`, pushes)
	w.start(worker.Options{})
	awaitReady(t, ready)
	w.loseRun(task)
	letGo(t, proceed)
	w.awaitState(task.ID, fermata.TaskDone)
	w.awaitRelease(flow)
	if text := run(t, bare, "show", "fermata/"+flow.ID+":one.txt"); text != "2" {
		t.Errorf("at origin stands the work of attempt %q", text)
	}
	if n := run(t, bare, "rev-list", "--count", "fermata/"+flow.ID); n != "2" {
		t.Errorf("at origin are %s commits", n)
	}
}

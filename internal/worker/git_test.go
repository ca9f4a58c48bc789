//go:build unix

package worker_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/testkit"
)

// Settings that the repository had before the first run stay in force: filters, and the treatment of line ends.
func TestSettingsOfTheRepositoryHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run(t, w.repo, "config", "filter.up.clean", "tr a-z A-Z")
	run(t, w.repo, "config", "filter.up.smudge", "tr A-Z a-z")
	run(t, w.repo, "config", `branch.odd "name".remote`, "origin")
	testkit.OK(t, os.WriteFile(filepath.Join(w.repo, ".gitattributes"), []byte("*.up filter=up\n"), 0o600))
	testkit.OK(t, os.WriteFile(filepath.Join(w.repo, "old.up"), []byte("old\n"), 0o600))
	run(t, w.repo, "add", ".")
	run(t, w.repo, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "filters")
	task := w.task("Paint", `grep -qx old old.up && echo new >new.up`)
	w.runOnce()
	w.awaitState(task.ID, fermata.TaskDone)
	if text := run(t, w.repo, "show", "fermata/"+task.ID+":new.up"); text != "NEW" {
		t.Errorf("the branch has %q: the filter was not in force", text)
	}
}

// The worker's git never starts a program that an agent can write.
func TestFilterInsideTheCopyIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	testkit.OK(t, os.WriteFile(filepath.Join(w.repo, "clean.sh"), []byte("#!/bin/sh\ncat\n"), 0o700))
	run(t, w.repo, "add", ".")
	run(t, w.repo, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "script")
	run(t, w.repo, "config", "filter.x.clean", "sh ./clean.sh")
	task := w.task("Paint", `echo new >new.txt`)
	w.runOnce()
	if failed := w.awaitState(task.ID, fermata.TaskFailed); !strings.Contains(failed.Summary, "filter.x.clean runs ./clean.sh, which lies in the working copy") {
		t.Errorf("the summary is %q", failed.Summary)
	}
}

// Settings that people and tools write in the course of work stop no run. Settings that start programs do, until the
// noted settings are removed.
func TestChangedSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run(t, w.repo, "config", "remote.origin.url", "https://git.example.com/shop")
	task := w.task("Paint", `echo one >one.txt; git config user.name robot; git config branch.main.remote origin; git config remote.origin.gh-resolved base; git config pull.rebase true`)
	w.runOnce()
	w.awaitState(task.ID, fermata.TaskDone)

	run(t, w.repo, "config", "core.editor", "vi")
	task = w.task("Paint", `echo two >two.txt`)
	w.runOnce()
	failed := w.awaitState(task.ID, fermata.TaskFailed)
	if !strings.Contains(failed.Summary, "core.editor (added)") {
		t.Fatalf("the summary is %q", failed.Summary)
	}
	noted, err := filepath.Glob(filepath.Join(w.folder, ".git-state", "repositories", "*.json"))
	testkit.OK(t, err)
	if len(noted) != 1 || !strings.Contains(failed.Summary, noted[0]) {
		t.Fatalf("%q does not name the file %v", failed.Summary, noted)
	}
	testkit.OK(t, os.Remove(noted[0]))
	_, err = w.person.ReopenTask(t.Context(), task.ID)
	testkit.OK(t, err)
	w.runOnce()
	w.awaitState(task.ID, fermata.TaskDone)
}

// An agent that is not isolated can remove the worker's notes. The worker still has them in memory.
func TestNotesThatAnAgentRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.task("Plant", `git config core.fsmonitor /bin/true; rm ../.git-state/repositories/*.json`)
	second := w.task("Paint", `echo two >two.txt`)
	w.runOnce()
	for _, task := range []*fermata.Task{first, second} {
		if failed := w.awaitState(task.ID, fermata.TaskFailed); !strings.Contains(failed.Summary, "core.fsmonitor (added)") {
			t.Errorf("%s failed with %q", task.Title, failed.Summary)
		}
	}
	if noted, err := filepath.Glob(filepath.Join(w.folder, ".git-state", "repositories", "*.json")); err != nil || len(noted) != 1 {
		t.Errorf("the notes are %v (%v)", noted, err)
	}
}

// A run that asks, and that has changed git's settings, fails instead of waiting.
func TestChangedSettingsOfARunThatAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task("Paint", `git config core.fsmonitor /bin/true; echo '{"result":"needs_input","question":{"question":"Which colour?"}}'`)
	w.runOnce()
	if failed := w.awaitState(task.ID, fermata.TaskFailed); !strings.Contains(failed.Summary, "core.fsmonitor (added)") {
		t.Errorf("the summary is %q", failed.Summary)
	}
}

// The agent's index counts: a file that it added by force is committed, a file that it took out is not, and a merge
// that it began becomes a merge commit.
func TestIndexOfTheAgentCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	testkit.OK(t, os.WriteFile(filepath.Join(w.repo, "made.out"), []byte("made\n"), 0o600))
	run(t, w.repo, "add", ".")
	run(t, w.repo, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "made")
	run(t, w.repo, "branch", "side")
	task := w.task("Paint", `echo '*.out' >.gitignore; git rm -q --cached made.out; echo forced >forced.out; git add -f forced.out; echo ignored >ignored.out`)
	merging := w.task("Merge", `export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
		git checkout -q -b other-$FERMATA_RUN side; echo side >side.txt; git add .; git commit -q -m side
		git checkout -q fermata/$FERMATA_TASK; echo mine >mine.txt; git add .; git commit -q -m mine; git merge -q --no-commit other-$FERMATA_RUN`)
	w.runOnce()
	w.awaitState(task.ID, fermata.TaskDone)
	w.awaitState(merging.ID, fermata.TaskDone)
	if names := run(t, w.repo, "ls-tree", "--name-only", "fermata/"+task.ID); names != ".gitignore\nREADME.md\nforced.out" {
		t.Errorf("the branch has\n%s", names)
	}
	if parents := strings.Fields(run(t, w.repo, "log", "-1", "--format=%P", "fermata/"+merging.ID)); len(parents) != 2 {
		t.Errorf("the merge has the parents %v", parents)
	}
}

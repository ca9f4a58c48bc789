//go:build unix

package worker

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fermata-hq/fermata"
)

// TestLocksOfARenamedWorktreeAreRemoved: if a folder with a worktree's name was left, git appends a number to the name
// of its data about the next one. Locks that a killed git left in that data must not stop a run.
func TestLocksOfARenamedWorktreeAreRemoved(t *testing.T) {
	t.Parallel()
	cs, task := newTestCopies(t), &fermata.Task{ID: "task_renamed", Title: "Paint"}
	data := filepath.Join(cs.WorkDir, ".git", "worktrees")
	// Another worktree has the name.
	taken := filepath.Join(t.TempDir(), task.ID)
	runIn(t, cs.WorkDir, "worktree", "add", "--quiet", "--detach", taken)
	runIn(t, cs.WorkDir, "worktree", "move", taken, filepath.Join(t.TempDir(), "elsewhere"))
	// Another one has a name that looks as if git had appended a number.
	runIn(t, cs.WorkDir, "worktree", "add", "--quiet", "--detach", filepath.Join(t.TempDir(), task.ID+"2"))
	c := mustOpen(t, cs, task)
	if want := filepath.Join(data, task.ID+"1"); c.dataDir != want {
		t.Fatalf("git's data about the worktree is in %s, not in %s", c.dataDir, want)
	}
	mine, other := filepath.Join(c.dataDir, "index.lock"), filepath.Join(data, task.ID+"2", "index.lock")
	writeFile(t, mine, "")
	writeFile(t, other, "")
	writeFile(t, filepath.Join(c.root, "new.txt"), "new")
	if _, err := runGitIn(t.Context(), c.root, "add", "--all"); err == nil {
		t.Fatal("the lock holds nothing up")
	}
	c.die()
	c, err := cs.open(t.Context(), task, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.die()
	runIn(t, c.root, "add", "--all")
	if !exists(other) {
		t.Error("the lock of somebody else's worktree was removed")
	}
}

// TestKilledBeforeTheWorktreeHasAPlace: git lists no worktree for a data folder that it has only just created. The next
// worker creates the worktree under its own name.
func TestKilledBeforeTheWorktreeHasAPlace(t *testing.T) {
	t.Parallel()
	cs := newTestCopies(t)
	for id, left := range map[string][]string{
		"task_bare": nil, "task_locking": {"locked"}, "task_placing": {"locked", "gitdir"},
	} {
		own := filepath.Join(cs.WorkDir, ".git", "worktrees", id)
		if err := os.MkdirAll(own, 0o750); err != nil {
			t.Fatal(err)
		}
		for _, name := range left {
			writeFile(t, filepath.Join(own, name), "")
		}
		c := mustOpen(t, cs, &fermata.Task{ID: id, Title: "Paint"})
		if c.dataDir != own {
			t.Errorf("git's data about the worktree is in %s, not in %s", c.dataDir, own)
		}
		c.die()
	}
}

// runIn runs git in a folder, as a person or an agent does.
func runIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := runGitIn(t.Context(), dir, args...); err != nil {
		t.Fatal(err)
	}
}

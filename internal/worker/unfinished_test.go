//go:build unix

package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/script"
)

// killableGit is a git that is killed in the middle of its work. It comes first in PATH. It skips one command, or kills
// the real git after a while.
type killableGit struct {
	t    *testing.T
	real string
	dir  string
}

// newKillableGit puts a git into PATH that runs the real one until a test says otherwise. Tests that use it do not run
// in parallel, because PATH belongs to the process.
func newKillableGit(t *testing.T) *killableGit {
	t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	k := &killableGit{t: t, real: program, dir: t.TempDir()}
	t.Setenv("PATH", k.dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	k.neverKill()
	return k
}

func (k *killableGit) write(text string) {
	k.t.Helper()
	name := filepath.Join(k.dir, "git")
	script.Write(k.t, name+".new", text)
	if err := os.Rename(name+".new", name); err != nil {
		k.t.Fatal(err)
	}
}

// neverKill makes git run to its end, without being killed.
func (k *killableGit) neverKill() { k.write(fmt.Sprintf("exec %s \"$@\"\n", k.real)) }

// killAfter kills git and all processes that it started, ms milliseconds after the start of the command that contains
// words.
func (k *killableGit) killAfter(ms float64, words string) {
	k.write(fmt.Sprintf(`case "$*" in
*%q*) timeout -s KILL %.4f %s "$@"; exit 137 ;;
*) exec %s "$@" ;;
esac
`, words, ms/1000, k.real, k.real))
}

// exitBefore makes git end before it begins the command that contains words.
func (k *killableGit) exitBefore(words string) {
	k.write(fmt.Sprintf("case \"$*\" in\n*%q*) exit 137 ;;\nesac\nexec %s \"$@\"\n", words, k.real))
}

// newTestCopies creates a repository with some files, and returns the manager of its working copies.
func newTestCopies(t *testing.T) *copyManager {
	t.Helper()
	repo := t.TempDir()
	for i := range 200 {
		name := filepath.Join(repo, fmt.Sprintf("file-%03d", i))
		if err := os.WriteFile(name, []byte(strings.Repeat("line\n", 400)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"}, {"add", "."},
		{"-c", "user.name=ana", "-c", "user.email=ana@example.com", "commit", "--quiet", "-m", "Begin"},
	} {
		if _, err := runGitIn(t.Context(), repo, args...); err != nil {
			t.Fatal(err)
		}
	}
	cs, err := newCopyManager(Copies{Folder: t.TempDir(), WorkDir: repo})
	if err != nil {
		t.Fatal(err)
	}
	return cs
}

// mustOpen opens the working copy of a task and checks that the copy is complete.
func mustOpen(t *testing.T, cs *copyManager, task *fermata.Task) *workingCopy {
	t.Helper()
	c, err := cs.open(t.Context(), task, io.Discard)
	if err != nil {
		t.Fatalf("the next worker cannot open the working copy: %v", err)
	}
	t.Cleanup(func() {
		if c.lock != nil {
			c.lock.release()
		}
	})
	if err := c.checkWorktree(t.Context()); err != nil {
		t.Fatalf("the working copy is not the worker's: %v", err)
	}
	if changes, err := runGitIn(t.Context(), c.root, "status", "--porcelain"); err != nil || changes != "" {
		t.Fatalf("the working copy is not whole: %v\n%s", err, changes)
	}
	return c
}

// die ends the run of a copy in the way in which the end of its process would.
func (c *workingCopy) die() { c.lock.release(); c.lock = nil }

// loseLock closes the copy's own end of its lock, as the end of its process does, while a program that it started keeps
// its end. The file number itself stays open, on the null device, because starting that program reads the number.
func (c *workingCopy) loseLock(t *testing.T) {
	t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close() //nolint:errcheck // nothing was written
	if err := unix.Dup2(int(null.Fd()), int(c.lock.file.Fd())); err != nil {
		t.Fatal(err)
	}
}

// TestKilledWhileMakingAWorktree: at whatever point a worker is killed while it creates a worktree, the next worker completes
// the worktree.
func TestKilledWhileMakingAWorktree(t *testing.T) {
	k := newKillableGit(t)
	cs := newTestCopies(t)
	var began int
	for i := range 40 {
		task := &fermata.Task{ID: fmt.Sprintf("task_add_%d", i), Title: "Paint"}
		k.killAfter(0.5+float64(i)*0.75, "worktree add")
		if c, err := cs.open(t.Context(), task, io.Discard); err == nil {
			c.die()
		} else {
			began++
		}
		k.neverKill()
		mustOpen(t, cs, task).die()
	}
	if began == 0 {
		t.Error("git was never killed on its way")
	}
	for i, words := range []string{"worktree unlock", "update-ref", "read-tree --reset"} {
		task := &fermata.Task{ID: fmt.Sprintf("task_between_%d", i), Title: "Paint"}
		k.exitBefore(words)
		if _, err := cs.open(t.Context(), task, io.Discard); err == nil {
			t.Fatalf("the worker was not killed before git %s", words)
		}
		k.neverKill()
		mustOpen(t, cs, task).die()
	}
}

// TestKilledWhileBeginningAtAnotherBranch kills git while a working copy is made at the branch of another task, which
// goes on meanwhile. The next run completes the working copy at the commit where it began. A git that was killed prints
// nothing. The worker must not conclude that the branch does not exist.
func TestKilledWhileBeginningAtAnotherBranch(t *testing.T) {
	k := newKillableGit(t)
	cs := newTestCopies(t)
	flow := &fermata.Task{ID: "task_flow", Title: "Flow"}
	work := func(name string) string {
		c := mustOpen(t, cs, flow)
		defer c.die()
		writeFile(t, filepath.Join(c.root, name), name)
		if err := c.commit(t.Context(), flow, io.Discard); err != nil {
			t.Fatal(err)
		}
		head, err := c.head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return head
	}
	for i, words := range []string{"rev-parse --verify --quiet refs/heads/fermata/task_flow", "worktree add", "read-tree --reset", "update-ref", "worktree unlock"} {
		before := work(fmt.Sprintf("before-%d", i))
		task := &fermata.Task{ID: fmt.Sprintf("task_apart_%d", i), Title: "Paint", Spec: json.RawMessage(`{"from": "task_flow"}`)}
		k.exitBefore(words)
		if _, err := cs.open(t.Context(), task, io.Discard); err == nil {
			t.Fatalf("the worker was not killed before git %s", words)
		}
		k.neverKill()
		_, none := runGitIn(t.Context(), cs.WorkDir, "rev-parse", "--verify", "--quiet", "refs/heads/fermata/"+task.ID)
		want := work(fmt.Sprintf("after-%d", i))
		if none == nil {
			want = before
		}
		c := mustOpen(t, cs, task)
		if head, err := c.head(t.Context()); err != nil || head != want || c.base != want {
			t.Errorf("killed before git %s, it stands at %s (%v) and goes back to %s, want %s", words, head, err, c.base, want)
		}
		c.die()
	}
}

// TestTornWorktreeOfAnotherTask: a worker may be killed while git's data about its worktree is incomplete. Such data
// stops no other task.
func TestTornWorktreeOfAnotherTask(t *testing.T) {
	cs := newTestCopies(t)
	for _, id := range []string{"task_torn", "task_empty"} {
		torn := filepath.Join(cs.WorkDir, ".git", "worktrees", id)
		if err := os.MkdirAll(torn, 0o750); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(torn, "locked"), unfinishedReason)
		writeFile(t, filepath.Join(torn, "gitdir"), filepath.Join(cs.Folder, id, ".git")+"\n")
		if id == "task_empty" {
			writeFile(t, filepath.Join(torn, "commondir"), "")
			if err := os.Mkdir(filepath.Join(cs.Folder, id), 0o750); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(cs.Folder, id, ".git"), "gitdir: "+torn+"\n")
		}
		mustOpen(t, cs, &fermata.Task{ID: id + "_other", Title: "Paint"}).die()
		mustOpen(t, cs, &fermata.Task{ID: id, Title: "Paint"}).die()
	}
}

// TestKilledWhileRemovingAWorktree: a worktree that was half removed is created again, with all committed changes.
func TestKilledWhileRemovingAWorktree(t *testing.T) {
	k := newKillableGit(t)
	cs := newTestCopies(t)
	for i := range 20 {
		task := &fermata.Task{ID: fmt.Sprintf("task_remove_%d", i), Title: "Paint"}
		c := mustOpen(t, cs, task)
		writeFile(t, filepath.Join(c.root, "done.txt"), "done")
		if err := c.commit(t.Context(), task, io.Discard); err != nil {
			t.Fatal(err)
		}
		k.killAfter(0.5+float64(i)*0.75, "worktree remove")
		_ = cs.removeWorktree(c.withCopyLock(t.Context()), *c.repo, c.id, c.root)
		c.die()
		k.neverKill()
		c = mustOpen(t, cs, task)
		if text, err := os.ReadFile(filepath.Join(c.root, "done.txt")); err != nil || string(text) != "done" {
			t.Fatalf("what was committed is not there: %q, %v", text, err)
		}
		c.die()
	}
}

// TestHalfForgottenWorktree: git deletes its data about a worktree file by file, in any order.
func TestHalfForgottenWorktree(t *testing.T) {
	t.Parallel()
	cs := newTestCopies(t)
	for i, gone := range [][]string{{"locked"}, {"locked", "HEAD"}, {"locked", "gitdir"}, {"locked", "commondir"}, {"HEAD"}, {"gitdir"}, {"commondir"}} {
		task := &fermata.Task{ID: fmt.Sprintf("task_forgotten_%d", i), Title: "Paint"}
		c := mustOpen(t, cs, task)
		if _, err := c.repo.git(t.Context(), "worktree", "lock", "--reason", unfinishedReason, c.root); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(c.root); err != nil {
			t.Fatal(err)
		}
		for _, name := range gone {
			if err := os.Remove(filepath.Join(c.repo.common, "worktrees", task.ID, name)); err != nil {
				t.Fatal(err)
			}
		}
		c.die()
		mustOpen(t, cs, task).die()
	}
}

// TestHalfRemovedWorktreeOfAnotherFolder: a worktree that was half removed by a worker with another folder does not keep
// the branch. Its files stay, because they are not this worker's.
func TestHalfRemovedWorktreeOfAnotherFolder(t *testing.T) {
	t.Parallel()
	cs := newTestCopies(t)
	task := &fermata.Task{ID: "task_elsewhere", Title: "Paint"}
	first := mustOpen(t, cs, task)
	if _, err := first.repo.git(t.Context(), "worktree", "lock", "--reason", unfinishedReason, first.root); err != nil {
		t.Fatal(err)
	}
	first.die()
	if err := os.Remove(filepath.Join(first.root, ".git")); err != nil {
		t.Fatal(err)
	}
	elsewhere, err := newCopyManager(Copies{Folder: t.TempDir(), WorkDir: cs.WorkDir})
	if err != nil {
		t.Fatal(err)
	}
	mustOpen(t, elsewhere, task).die()
	if !exists(filepath.Join(first.root, "file-000")) {
		t.Error("files of another worker's folder are gone")
	}
}

// TestKilledWhilePushing: a worker that was killed before, or right after, its push can push again, with other work too.
func TestKilledWhilePushing(t *testing.T) {
	k := newKillableGit(t)
	cs := newTestCopies(t)
	bare := filepath.Join(t.TempDir(), "origin.git")
	for _, args := range [][]string{{"init", "--quiet", "--bare", bare}, {"remote", "add", "origin", bare}} {
		if _, err := runGitIn(t.Context(), cs.WorkDir, args...); err != nil {
			t.Fatal(err)
		}
	}
	task := &fermata.Task{ID: "task_pushing", Title: "Paint", Spec: json.RawMessage(`{"push": true}`)}
	push := func(work string) (string, error) {
		c := mustOpen(t, cs, task)
		defer c.die()
		if err := c.resetToBase(t.Context()); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(c.root, "done.txt"), work)
		if err := c.commit(t.Context(), task, io.Discard); err != nil {
			t.Fatal(err)
		}
		head, err := c.head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return head, c.pushBranch(t.Context(), io.Discard)
	}
	k.exitBefore("update-ref refs/fermata/pushed/")
	if _, err := push("first"); err == nil {
		t.Fatal("the worker was not killed on its way")
	}
	k.neverKill()
	head, err := push("second")
	if err != nil {
		t.Fatalf("the next push: %v", err)
	}
	if at, err := runGitIn(t.Context(), bare, "rev-parse", "refs/heads/fermata/"+task.ID); err != nil || at != head {
		t.Errorf("at origin stands %s (%v), not %s", at, err, head)
	}
	k.exitBefore("push --quiet")
	if _, err := push("third"); err == nil {
		t.Fatal("the worker was not killed on its way")
	}
	k.neverKill()
	if _, err := push("fourth"); err != nil {
		t.Fatalf("the push after one that did not begin: %v", err)
	}
}

// TestKilledWhileCommitting: the agent's changes are still there, committed or not, and can be committed.
func TestKilledWhileCommitting(t *testing.T) {
	k := newKillableGit(t)
	cs := newTestCopies(t)
	for i := range 12 {
		for _, words := range []string{"add --all", "commit-tree", "update-ref"} {
			task := &fermata.Task{ID: fmt.Sprintf("task_commit_%d_%s", i, words[:3]), Title: "Paint"}
			c := mustOpen(t, cs, task)
			writeFile(t, filepath.Join(c.root, "done.txt"), strings.Repeat("done\n", 10_000))
			k.killAfter(0.5+float64(i)*0.75, words)
			_ = c.commit(t.Context(), task, io.Discard)
			c.die()
			k.neverKill()
			c, err := cs.open(t.Context(), task, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.commit(t.Context(), task, io.Discard); err != nil {
				t.Fatalf("what was left cannot be committed: %v", err)
			}
			if listed, err := runGitIn(t.Context(), c.root, "show", "--stat", "HEAD", "--", "done.txt"); err != nil || listed == "" {
				t.Errorf("what the agent did is not committed: %v", err)
			}
			c.die()
		}
	}
}

// TestKilledWhileRollingBack: the next worker completes a rollback that was interrupted.
func TestKilledWhileRollingBack(t *testing.T) {
	k := newKillableGit(t)
	cs := newTestCopies(t)
	for i := range 12 {
		for _, words := range []string{"read-tree --reset", "clean --quiet"} {
			task := &fermata.Task{ID: fmt.Sprintf("task_back_%d_%s", i, words[:5]), Title: "Paint"}
			c := mustOpen(t, cs, task)
			writeFile(t, filepath.Join(c.root, "file-000"), "spoiled")
			writeFile(t, filepath.Join(c.root, "new.txt"), "spoiled")
			k.killAfter(0.25+float64(i)*0.5, words)
			_ = c.resetToBase(c.withCopyLock(t.Context()))
			c.die()
			k.neverKill()
			mustOpen(t, cs, task).die()
		}
	}
}

// TestGitOutlivesItsWorker: while a git that a killed worker had started goes on, no other worker opens the working
// copy.
func TestGitOutlivesItsWorker(t *testing.T) {
	k := newKillableGit(t)
	cs := newTestCopies(t)
	task := &fermata.Task{ID: "task_outlives", Title: "Paint"}
	c := mustOpen(t, cs, task)
	gate := filepath.Join(t.TempDir(), "gate")
	if out, err := exec.Command("mkfifo", gate).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	k.write(fmt.Sprintf("case \"$*\" in\n*status*) cat %s >/dev/null; exit 0 ;;\nesac\nexec %s \"$@\"\n", gate, k.real))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = runGitIn(c.withCopyLock(context.Background()), c.root, "status")
	}()
	open, err := os.OpenFile(gate, os.O_WRONLY, 0) // returns once the program reads
	if err != nil {
		t.Fatal(err)
	}
	c.loseLock(t)
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if _, err := lockFile(ctx, filepath.Join(cs.WorkDir, ".git", "fermata", task.ID+".lock")); err == nil {
		t.Fatal("the working copy can be opened while git works in it")
	}
	if err := open.Close(); err != nil {
		t.Fatal(err)
	}
	patience.Receive(t, "git ends", ended)
	k.neverKill()
	mustOpen(t, cs, task).die()
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

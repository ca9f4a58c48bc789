package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
)

// Policy says what happens to the working copy of a run that ended.
type Policy string

// Policies of working copies.
const (
	// Commit commits all changes to the task's branch.
	Commit Policy = "commit"
	// RollBack brings the copy back to where the task began.
	RollBack Policy = "rollback"
	// Keep leaves the copy as the agent left it.
	Keep Policy = "keep"
)

// Copies says where agents work and what becomes of their changes.
type Copies struct {
	// Folder is where the worker keeps what is its own: a worktree for each task.
	Folder string
	// WorkDir is where the tasks of a project belong that Dirs does not name. A
	// git repository gives each task a worktree and a branch; any other folder, a
	// folder inside it; empty, a folder inside Folder.
	WorkDir string
	// Dirs are the same by project.
	Dirs map[string]string
	// OnCompleted is commit (the default) or keep.
	OnCompleted Policy
	// OnFailed is rollback (the default) or keep.
	OnFailed Policy
	// KeepWorktree leaves the worktree of a committed task in place; its branch
	// always stays.
	KeepWorktree bool
}

// copies opens working copies.
type copies struct {
	Copies
	// mu keeps two slots from adding worktrees to one repository at once.
	mu sync.Mutex
	// tidying is held while shared worktrees are removed, the last time at tidied.
	tidying sync.Mutex
	tidied  time.Time
}

func newCopies(c Copies) (*copies, error) {
	if c.OnCompleted == "" {
		c.OnCompleted = Commit
	}
	if c.OnFailed == "" {
		c.OnFailed = RollBack
	}
	if c.OnCompleted != Commit && c.OnCompleted != Keep {
		return nil, fmt.Errorf("on completed is %q, must be commit or keep", c.OnCompleted)
	}
	if c.OnFailed != RollBack && c.OnFailed != Keep {
		return nil, fmt.Errorf("on failed is %q, must be rollback or keep", c.OnFailed)
	}
	if c.Folder == "" {
		return nil, errors.New("a worker needs a folder for its working copies")
	}
	folder, err := filepath.Abs(c.Folder)
	if err != nil {
		return nil, err
	}
	c.Folder = folder
	return &copies{Copies: c}, os.MkdirAll(folder, 0o700)
}

// workingCopy is where the agent of one run works. While it is open, no other
// run of the task works in it. A nil one does nothing. What is done to it at the
// end of a run is done whole: the end of a context does not stop it half-way.
type workingCopy struct {
	cs *copies
	// id names its folder and branch: that of the task, or the one that it shares.
	id string
	// shared says that other tasks work in it as well, one at a time; push, that
	// the branch is pushed when it was committed.
	shared, push bool
	// workDir is where the agent starts; root is the whole worktree or folder.
	workDir string
	root    string
	// repo is the repository whose worktree it is; empty for a plain folder.
	repo   string
	branch string
	// base is the commit where the task began.
	base string
	// keep leaves everything as it is, whatever the policy.
	keep bool
	// undo is the commit to go back to when the server refuses the result.
	undo   string
	unlock func()
}

// open returns the task's working copy as its last run left it, or makes it. It
// waits until no other run works in it.
func (cs *copies) open(ctx context.Context, t *fermata.Task, log io.Writer) (*workingCopy, error) {
	want, err := wishesOf(t)
	if err != nil {
		return nil, err
	}
	dir := cs.WorkDir
	if own, ok := cs.Dirs[t.Project]; ok {
		dir = own
	}
	if dir == "" {
		return cs.openFolder(ctx, cs.Folder, want)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", dir)
	}
	if r, ok := findRepository(ctx, dir); ok {
		return cs.openWorktree(ctx, r, want, log)
	}
	return cs.openFolder(ctx, dir, want)
}

// openFolder opens the plain folder of a task.
func (cs *copies) openFolder(ctx context.Context, parent string, want wishes) (*workingCopy, error) {
	if want.push {
		return nil, fmt.Errorf("there is no branch to push: %s is in no git repository", parent)
	}
	unlock, err := lockFile(ctx, filepath.Join(parent, ".locks", want.id))
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(parent, want.id)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		unlock()
		return nil, err
	}
	return &workingCopy{cs: cs, id: want.id, shared: want.shared(), workDir: dir, root: dir, unlock: unlock}, nil
}

// close lets the next run of the task into the copy.
func (c *workingCopy) close() {
	if c != nil {
		c.unlock()
	}
}

// commit commits all changes to the task's branch, where the policy says so.
func (c *workingCopy) commit(ctx context.Context, t *fermata.Task, log io.Writer) error {
	if c == nil || c.repo == "" || c.keep || c.cs.OnCompleted != Commit {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	if err := c.check(ctx); err != nil {
		return err
	}
	head, err := git(ctx, c.root, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	done, err := c.commitAll(ctx, strings.Join(strings.Fields(t.Title), " "), t.ID)
	if err != nil || !done {
		return err
	}
	c.undo = head
	logLine(log, "Committed the changes to the branch %s.", c.branch)
	return nil
}

// commitAll commits whatever changed, and reports whether anything did.
func (c *workingCopy) commitAll(ctx context.Context, subject, task string) (bool, error) {
	if _, err := git(ctx, c.root, "add", "--all"); err != nil {
		return false, err
	}
	staged, err := git(ctx, c.root, "diff", "--cached", "--name-only")
	if err != nil || staged == "" {
		return false, err
	}
	args := append(identity(ctx, c.root), "commit", "--quiet", "--no-verify", "--cleanup=whitespace", "--file=-")
	_, err = gitInput(ctx, c.root, subject+"\n\nFermata-Task: "+task+"\n", args...)
	return err == nil, err
}

// check refuses to touch anything but the task's own branch in its own
// worktree, whatever the agent did there.
func (c *workingCopy) check(ctx context.Context) error {
	top, err := git(ctx, c.root, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if !sameFolder(top, c.root) {
		return fmt.Errorf("%s is not a worktree any more", c.root)
	}
	if marker, err := c.marker(ctx); err != nil || !exists(marker) {
		return fmt.Errorf("%s is not the worktree that a worker made", c.root)
	}
	if ref, err := git(ctx, c.root, "symbolic-ref", "--quiet", "HEAD"); err != nil || ref != "refs/heads/"+c.branch {
		return fmt.Errorf("the branch %s is not checked out any more", c.branch)
	}
	return nil
}

func sameFolder(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// uncommit takes the commit of a refused result back; the changes stay.
func (c *workingCopy) uncommit(ctx context.Context, log *slog.Logger) {
	if c == nil || c.undo == "" {
		return
	}
	undo := c.undo
	c.undo = ""
	if _, err := git(context.WithoutCancel(ctx), c.root, "reset", "--quiet", "--mixed", undo); err != nil {
		log.Error("take the commit back", "error", err)
	}
}

// rollBack brings the copy of a failed run back to where the task began, where
// the policy says so. A plain folder is kept: there is no way back.
func (c *workingCopy) rollBack(ctx context.Context, log *slog.Logger) {
	if c == nil || c.repo == "" || c.keep || c.cs.OnFailed != RollBack {
		return
	}
	ctx = context.WithoutCancel(ctx)
	err := c.check(ctx)
	for _, args := range [][]string{{"reset", "--quiet", "--hard", c.base}, {"clean", "--quiet", "-ffd"}} {
		if err == nil {
			_, err = git(ctx, c.root, args...)
		}
	}
	if err != nil {
		log.Error("roll the working copy back", "error", err)
	}
}

// finished removes the worktree of a task that was committed. Its branch
// stays, and where it stands is where a reopened task begins. One that tasks
// share stays for the next of them.
func (c *workingCopy) finished(ctx context.Context, log *slog.Logger) {
	if c == nil || c.repo == "" || c.keep || c.cs.OnCompleted != Commit {
		return
	}
	ctx = context.WithoutCancel(ctx)
	_, err := git(ctx, c.root, "update-ref", baseRef(c.id), "HEAD")
	if err == nil && !c.cs.KeepWorktree && !c.shared && strings.HasPrefix(c.root, c.cs.Folder+string(filepath.Separator)) {
		_, err = git(ctx, c.repo, "worktree", "remove", "--force", c.root)
	}
	if err != nil {
		log.Error("remove the worktree", "error", err)
	}
}

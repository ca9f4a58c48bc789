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
	// notes holds the settings of git that the worker has read.
	notes notes
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
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	// Git names folders by their real paths.
	c.Folder, err = filepath.EvalSymlinks(folder)
	return &copies{Copies: c, notes: notes{known: map[string]settings{}}}, err
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
	// repo is the repository whose worktree it is; nil for a plain folder.
	repo   *repository
	branch string
	// data is the folder of the repository's own data about the worktree, and git
	// the worker's own git for the files in it.
	data string
	git  copyGit
	// base is the commit where the task began.
	base string
	// keep leaves everything as it is, whatever the policy.
	keep bool
	// undo is the commit to go back to when the server refuses the result.
	undo string
	lock *lock
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
	r, ok, err := findRepository(ctx, dir)
	switch {
	case err != nil:
		return nil, err
	case ok:
		return cs.openWorktree(ctx, r, want, log)
	default:
		return cs.openFolder(ctx, dir, want)
	}
}

// openFolder opens the plain folder of a task.
func (cs *copies) openFolder(ctx context.Context, parent string, want wishes) (*workingCopy, error) {
	if want.push {
		return nil, fmt.Errorf("there is no branch to push: %s is in no git repository", parent)
	}
	if want.from != "" {
		return nil, fmt.Errorf("there is no branch to begin at: %s is in no git repository", parent)
	}
	held, err := lockFile(ctx, filepath.Join(parent, ".locks", want.id))
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(parent, want.id)
	if err := errors.Join(os.MkdirAll(dir, 0o750), hasPlace(dir, dir)); err != nil {
		held.release()
		return nil, err
	}
	return &workingCopy{cs: cs, id: want.id, shared: want.isShared(), workDir: dir, root: dir, lock: held}, nil
}

// close lets the next run of the task into the copy.
func (c *workingCopy) close() {
	if c != nil {
		c.lock.release()
	}
}

// uncommit takes the commit of a refused result back; the changes stay.
func (c *workingCopy) uncommit(ctx context.Context, log *slog.Logger) {
	if c == nil || c.undo == "" {
		return
	}
	undo := c.undo
	c.undo = ""
	ctx = c.holding(context.WithoutCancel(ctx))
	_, err := c.git.git(ctx, "read-tree", undo)
	if err == nil {
		err = errors.Join(c.git.storeIndex(), c.moveBranch(ctx, undo, ""))
	}
	if err != nil {
		log.Error("take the commit back", "error", err)
	}
}

// rollBack brings the copy of a failed run back to where the task began, where
// the policy says so. A plain folder is kept: there is no way back.
func (c *workingCopy) rollBack(ctx context.Context, log *slog.Logger) {
	if c == nil || c.repo == nil || c.keep || c.cs.OnFailed != RollBack {
		return
	}
	ctx = c.holding(context.WithoutCancel(ctx))
	err := c.check(ctx)
	if err == nil {
		err = c.goBack(ctx)
	}
	if err != nil {
		log.Error("roll the working copy back", "error", err)
	}
}

// keepCommits keeps what a completed run committed, also if a later run of the task fails.
func (c *workingCopy) keepCommits(ctx context.Context, log *slog.Logger) {
	if c == nil || c.repo == nil || c.keep || c.cs.OnCompleted != Commit {
		return
	}
	if err := c.setBase(context.WithoutCancel(ctx)); err != nil {
		log.Error("note the commit", "error", err)
	}
}

// finished removes the worktree of a task that was committed. Its branch
// stays, and where it stands is where a reopened task begins. One that tasks
// share stays for the next of them.
func (c *workingCopy) finished(ctx context.Context, log *slog.Logger) {
	if c == nil || c.repo == nil || c.keep || c.cs.OnCompleted != Commit {
		return
	}
	ctx = c.holding(context.WithoutCancel(ctx))
	err := c.setBase(ctx)
	if err == nil && !c.cs.KeepWorktree && !c.shared && strings.HasPrefix(c.root, c.cs.Folder+string(filepath.Separator)) {
		err = c.cs.removeWorktree(ctx, *c.repo, c.id, c.root)
	}
	if err != nil {
		log.Error("remove the worktree", "error", err)
	}
}

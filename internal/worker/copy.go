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

// CopyHandling is what happens to the working copy of a run that ended.
type CopyHandling string

// Policies of working copies.
const (
	// Commit commits all changes to the task's branch.
	Commit CopyHandling = "commit"
	// RollBack resets the copy to the commit where the task began.
	RollBack CopyHandling = "rollback"
	// Keep leaves the copy as the agent left it.
	Keep CopyHandling = "keep"
)

// Copies configures where agents work and what happens to their changes.
type Copies struct {
	// Folder is the worker's own folder. It holds a worktree for each task.
	Folder string
	// WorkDir is the folder for the tasks of every project that Dirs does not name. In a git repository, each task gets
	// a worktree and a branch. In any other folder, each task gets a folder inside it. If WorkDir is empty, each task
	// gets a folder inside Folder.
	WorkDir string
	// Dirs maps a project to its WorkDir.
	Dirs map[string]string
	// OnCompleted is Commit (the default) or Keep.
	OnCompleted CopyHandling
	// OnFailed is RollBack (the default) or Keep.
	OnFailed CopyHandling
	// KeepWorktree leaves the worktree of a committed task in place. The branch always stays.
	KeepWorktree bool
}

// copyManager opens working copies.
type copyManager struct {
	Copies
	// mu keeps two slots from adding worktrees to one repository at the same time.
	mu sync.Mutex
	// knownSettings holds the git settings that the worker has read.
	knownSettings knownSettings
	// tidyMu is held while shared worktrees are removed. lastTidy is when that was last done.
	tidyMu   sync.Mutex
	lastTidy time.Time
}

func newCopyManager(c Copies) (*copyManager, error) {
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
	return &copyManager{Copies: c, knownSettings: knownSettings{byFile: map[string]settings{}}}, err
}

// workingCopy is the folder in which the agent of one run works. While it is open, no other run of the task works in
// it. The methods of a nil workingCopy do nothing. The work at the end of a run is always completed: the end of a
// context does not stop it halfway.
type workingCopy struct {
	cs *copyManager
	// id names the folder and the branch: the id of the task, or of the working copy that it shares.
	id string
	// shared is true if other tasks work in it as well, one at a time. push is true if the branch is pushed after the
	// commit.
	shared, push bool
	// workDir is the folder in which the agent starts. root is the whole worktree or folder.
	workDir string
	root    string
	// repo is the repository of the worktree, or nil for a plain folder.
	repo   *repository
	branch string
	// dataDir is the folder with the repository's data about the worktree. git is the worker's own git for the files in
	// it.
	dataDir string
	git     copyGit
	// base is the commit where the task began.
	base string
	// keepAsIs leaves everything as it is, whatever the policy says.
	keepAsIs bool
	// previousHead is the commit to go back to if the server refuses the result.
	previousHead string
	lock         *lock
}

// open returns the task's working copy as its last run left it, or creates a new one. It waits until no other run works
// in it.
func (cs *copyManager) open(ctx context.Context, t *fermata.Task, log io.Writer) (*workingCopy, error) {
	spec, err := readCopySpec(t)
	if err != nil {
		return nil, err
	}
	dir := cs.WorkDir
	if own, ok := cs.Dirs[t.Project]; ok {
		dir = own
	}
	if dir == "" {
		return cs.openFolder(ctx, cs.Folder, spec)
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
		return cs.openWorktree(ctx, r, spec, log)
	default:
		return cs.openFolder(ctx, dir, spec)
	}
}

// openFolder opens the plain folder of a task.
func (cs *copyManager) openFolder(ctx context.Context, parent string, spec copySpec) (*workingCopy, error) {
	if spec.push {
		return nil, fmt.Errorf("there is no branch to push: %s is in no git repository", parent)
	}
	if spec.from != "" {
		return nil, fmt.Errorf("there is no branch to begin at: %s is in no git repository", parent)
	}
	held, err := lockFile(ctx, filepath.Join(parent, ".locks", spec.id))
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(parent, spec.id)
	if err := errors.Join(os.MkdirAll(dir, 0o750), checkWorkDir(dir, dir)); err != nil {
		held.release()
		return nil, err
	}
	return &workingCopy{cs: cs, id: spec.id, shared: spec.isShared(), workDir: dir, root: dir, lock: held}, nil
}

// close releases the copy for the next run of the task.
func (c *workingCopy) close() {
	if c != nil {
		c.lock.release()
	}
}

// uncommit takes back the commit of a refused result. The changes stay.
func (c *workingCopy) uncommit(ctx context.Context, log *slog.Logger) {
	if c == nil || c.previousHead == "" {
		return
	}
	undo := c.previousHead
	c.previousHead = ""
	ctx = c.withCopyLock(context.WithoutCancel(ctx))
	_, err := c.git.git(ctx, "read-tree", undo)
	if err == nil {
		err = errors.Join(c.git.storeIndex(), c.moveBranch(ctx, undo, ""))
	}
	if err != nil {
		log.Error("take the commit back", "error", err)
	}
}

// rollBack resets the copy of a failed run to the commit where the task began, if the policy says so. A plain folder is
// kept, because it has no earlier state to go back to.
func (c *workingCopy) rollBack(ctx context.Context, log *slog.Logger) {
	if c == nil || c.repo == nil || c.keepAsIs || c.cs.OnFailed != RollBack {
		return
	}
	ctx = c.withCopyLock(context.WithoutCancel(ctx))
	err := c.checkWorktree(ctx)
	if err == nil {
		err = c.resetToBase(ctx)
	}
	if err != nil {
		log.Error("roll the working copy back", "error", err)
	}
}

// keepCommits keeps the commits of a completed run even if a later run of the task fails.
func (c *workingCopy) keepCommits(ctx context.Context, log *slog.Logger) {
	if c == nil || c.repo == nil || c.keepAsIs || c.cs.OnCompleted != Commit {
		return
	}
	if err := c.setBase(context.WithoutCancel(ctx)); err != nil {
		log.Error("note the commit", "error", err)
	}
}

// removeAfterSuccess removes the worktree of a task that was committed. The branch stays, and a reopened task begins at
// its last commit. A worktree that tasks share stays for the next of them.
func (c *workingCopy) removeAfterSuccess(ctx context.Context, log *slog.Logger) {
	if c == nil || c.repo == nil || c.keepAsIs || c.cs.OnCompleted != Commit {
		return
	}
	ctx = c.withCopyLock(context.WithoutCancel(ctx))
	err := c.setBase(ctx)
	if err == nil && !c.cs.KeepWorktree && !c.shared && strings.HasPrefix(c.root, c.cs.Folder+string(filepath.Separator)) {
		err = c.cs.removeWorktree(ctx, *c.repo, c.id, c.root)
	}
	if err != nil {
		log.Error("remove the worktree", "error", err)
	}
}

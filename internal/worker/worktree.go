package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/fermata-hq/fermata"
)

// branchOf returns the branch of a working copy.
func branchOf(id string) string { return "fermata/" + id }

// baseRef returns the ref that holds the commit where the task of a working copy began. It is in the repository, so
// that every worker on the repository knows it, and git keeps the commit.
func baseRef(id string) string { return "refs/fermata/base/" + id }

// openWorktree opens the worktree of a task, if there is one. Otherwise it creates one: from the task's branch, from
// the branch of the task at which it begins, or from the repository's HEAD.
func (cs *copyManager) openWorktree(ctx context.Context, r repository, spec copySpec, log io.Writer) (*workingCopy, error) {
	held, err := lockFile(ctx, filepath.Join(r.common, "fermata", spec.id+".lock"))
	if err != nil {
		return nil, err
	}
	c := &workingCopy{cs: cs, id: spec.id, shared: spec.isShared(), push: spec.push, repo: &r, branch: branchOf(spec.id), lock: held}
	ctx = c.withCopyLock(ctx)
	c.removeGitLocks()
	c.removeIncompleteData()
	// If nothing is committed, a rollback would lose the work of the other tasks.
	c.keepAsIs = c.shared && cs.OnCompleted == Keep
	if err := cs.prepareWorktree(ctx, c, spec, log); err != nil {
		held.release()
		return nil, err
	}
	c.workDir = filepath.Join(c.root, filepath.FromSlash(r.prefix))
	if err := makeWorkDir(c.root, c.workDir); err != nil {
		held.release()
		return nil, err
	}
	return c, nil
}

// prepareWorktree finds or creates the worktree and the branch of a copy.
func (cs *copyManager) prepareWorktree(ctx context.Context, c *workingCopy, spec copySpec, log io.Writer) error {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c.root = filepath.Join(cs.Folder, c.id)
	seen, err := cs.checkedSettings(ctx, *c.repo)
	if err != nil {
		return err
	}
	checkouts, err := c.listCheckouts(ctx)
	if err != nil {
		return err
	}
	if _, missing := c.repo.git(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+c.branch); missing != nil {
		err = c.createWorktree(ctx, seen, spec, log)
	} else if dir, ok := checkouts["refs/heads/"+c.branch]; ok && exists(dir) {
		err = c.adoptWorktree(ctx, seen, dir, log)
	} else {
		err = c.recreateWorktree(ctx, seen, dir, spec.task, log)
	}
	if err != nil {
		return err
	}
	if c.shared {
		if err := c.inherit(ctx, spec.task, log); err != nil {
			return err
		}
	}
	return c.findBase(ctx)
}

// recreateWorktree creates a worktree from the task's branch. The old worktree is gone, but git may still list it.
func (c *workingCopy) recreateWorktree(ctx context.Context, seen settings, old string, t *fermata.Task, log io.Writer) error {
	if old != "" {
		if err := c.cs.removeWorktree(ctx, *c.repo, c.id, old); err != nil {
			return err
		}
	}
	if err := c.addWorktree(ctx, seen, c.root, c.branch); err != nil {
		return err
	}
	if t.Attempts > 0 || t.Session != nil {
		logLine(log, "The worktree of this task was gone and was made again from its branch %s; changes that were not committed are lost.", c.branch)
	}
	return nil
}

// createWorktree creates the task's branch and worktree.
func (c *workingCopy) createWorktree(ctx context.Context, seen settings, spec copySpec, log io.Writer) error {
	start, err := c.startingPoint(ctx, spec.from, log)
	if err != nil {
		return err
	}
	if s := spec.task.Session; s != nil && s.Dir != "" {
		logLine(log, "The working copy of this task is at the worker %s in %s, and not here: the agent begins again.", s.Worker, s.Dir)
	}
	return c.addWorktree(ctx, seen, "--no-track", "-b", c.branch, c.root, start)
}

// startingPoint returns the commit at which the task's branch begins: the last commit on the branch of the task from,
// or the repository's HEAD if there is no such branch.
func (c *workingCopy) startingPoint(ctx context.Context, from string, log io.Writer) (string, error) {
	if from != "" {
		commit, err := c.repo.git(ctx, "rev-parse", "--verify", "--quiet", "refs/heads/"+branchOf(from)+"^{commit}")
		if err == nil {
			logLine(log, "The working copy begins at %s, the last commit on the branch %s.", commit, branchOf(from))
			return commit, nil
		}
		if !isNotFound(err) {
			return "", err
		}
		logLine(log, "There is no branch %s: the working copy begins where the repository stands.", branchOf(from))
	}
	commit, err := c.repo.git(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return "", fmt.Errorf("the repository %s has no commit to begin from", c.repo.top)
	}
	return commit, nil
}

// isNotFound reports whether git ended by itself and found nothing. If git was killed, its error proves nothing.
func isNotFound(err error) bool {
	ended, ok := errors.AsType[*exec.ExitError](err)
	return ok && ended.ExitCode() == 1
}

// addWorktree adds the worktree. The worktree is locked as unfinished until it is complete. addWorktree never
// removes a folder in its place that is not empty. The copy's own git checks out the files.
func (c *workingCopy) addWorktree(ctx context.Context, seen settings, args ...string) error {
	entries, err := os.ReadDir(c.root)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(entries) == 1 && entries[0].Name() == ".git" && entries[0].Type().IsRegular() {
		// A git that was killed wrote no more than this.
		if err := os.Remove(filepath.Join(c.root, ".git")); err != nil {
			return err
		}
	} else if len(entries) > 0 {
		return fmt.Errorf("%s is in the way of the worktree: move it away", c.root)
	}
	if err := c.cs.dropGitFolder(c.id); err != nil {
		return err
	}
	args = append([]string{"worktree", "add", "--quiet", "--no-checkout", "--lock", "--reason", unfinishedReason}, args...)
	if _, err := c.repo.git(ctx, args...); err != nil {
		return err
	}
	if err := c.fillWorktree(ctx, seen); err != nil {
		return err
	}
	_, err = c.repo.git(ctx, "worktree", "unlock", c.root)
	return err
}

// fillWorktree checks out the files of a new worktree, and marks it as created by a worker.
func (c *workingCopy) fillWorktree(ctx context.Context, seen settings) (err error) {
	if c.dataDir, err = c.repo.dataDirOf(c.root); err != nil {
		return err
	}
	if err := c.openGit(ctx, seen); err != nil {
		return err
	}
	head, err := c.head(ctx)
	if err != nil {
		return err
	}
	if err := c.git.checkout(ctx, head); err != nil {
		return err
	}
	if err := replaceFile(c.markerFile(), nil); err != nil {
		return err
	}
	if _, err := c.runInRepo(ctx, "rev-parse", "--verify", "--quiet", baseRef(c.id)); err != nil {
		return c.setBase(ctx)
	}
	return nil
}

// adoptWorktree uses an existing worktree for the copy, if a worker created it. A worker never works in another
// checkout of the branch, and never rolls one back.
func (c *workingCopy) adoptWorktree(ctx context.Context, seen settings, dir string, log io.Writer) (err error) {
	c.root = dir
	if c.dataDir, err = c.repo.dataDirOf(dir); err != nil || !exists(c.markerFile()) {
		return fmt.Errorf("somebody has the branch %s checked out in %s: check out another one there", c.branch, dir)
	}
	if faults := c.faults(); len(faults) > 0 {
		return errors.New(strings.Join(faults, "; "))
	}
	if err := c.openGit(ctx, seen); err != nil {
		return err
	}
	return c.finishReset(ctx, log)
}

// markerFile returns the file that marks a worktree as created by a worker. The file is in git's own data about the
// worktree, which is removed with the worktree.
func (c *workingCopy) markerFile() string { return filepath.Join(c.dataDir, "fermata-worker") }

// findBase reads the commit where the task began. If none is recorded, it takes the commit that is checked out.
func (c *workingCopy) findBase(ctx context.Context) error {
	base, err := c.runInRepo(ctx, "rev-parse", "--verify", "--quiet", baseRef(c.id)+"^{commit}")
	if err != nil {
		base, err = c.head(ctx)
	}
	c.base = base
	return err
}

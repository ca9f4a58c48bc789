package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/fermata-hq/fermata"
)

// branchOf is the branch of a working copy.
func branchOf(id string) string { return "fermata/" + id }

// baseRef holds the commit where the task of a working copy began. It lives in
// the repository, so that every worker on it knows, and git keeps the commit.
func baseRef(id string) string { return "refs/fermata/base/" + id }

// openWorktree opens the worktree of a task: where it is, or made anew from
// the task's branch, or from where the repository stands.
func (cs *copies) openWorktree(ctx context.Context, r repository, want wishes, log io.Writer) (*workingCopy, error) {
	unlock, err := lockFile(ctx, filepath.Join(r.common, "fermata", want.id+".lock"))
	if err != nil {
		return nil, err
	}
	c := &workingCopy{
		cs: cs, id: want.id, shared: want.shared(), push: want.push, repo: r.top, branch: branchOf(want.id), unlock: unlock,
	}
	// Where nothing is committed, going back would take the work of the others.
	c.keep = c.shared && cs.OnCompleted == Keep
	if err := cs.checkOut(ctx, c, want.task, log); err != nil {
		unlock()
		return nil, err
	}
	c.workDir = filepath.Join(c.root, filepath.FromSlash(r.prefix))
	if err := os.MkdirAll(c.workDir, 0o750); err != nil {
		unlock()
		return nil, err
	}
	return c, nil
}

// checkOut finds or makes the worktree and the branch of a copy.
func (cs *copies) checkOut(ctx context.Context, c *workingCopy, t *fermata.Task, log io.Writer) error {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	at, err := worktrees(ctx, c.repo)
	if err != nil {
		return err
	}
	c.root = filepath.Join(cs.Folder, c.id)
	if _, err := git(ctx, c.repo, "rev-parse", "--verify", "--quiet", "refs/heads/"+c.branch); err != nil {
		if err := c.begin(ctx, t, log); err != nil {
			return err
		}
	} else if dir, ok := at["refs/heads/"+c.branch]; ok && exists(dir) {
		if err := c.takeOver(ctx, dir); err != nil {
			return err
		}
	} else {
		if ok {
			if _, err := git(ctx, c.repo, "worktree", "remove", "--force", dir); err != nil {
				return err
			}
		}
		if err := c.add(ctx, "worktree", "add", "--quiet", c.root, c.branch); err != nil {
			return err
		}
		if t.Attempts > 0 || t.Session != nil {
			logLine(log, "The worktree of this task was gone and was made again from its branch %s; changes that were not committed are lost.", c.branch)
		}
	}
	if c.shared {
		if err := c.inherit(ctx, t, log); err != nil {
			return err
		}
	}
	return c.findBase(ctx)
}

// begin makes the task's branch and worktree from where the repository stands.
func (c *workingCopy) begin(ctx context.Context, t *fermata.Task, log io.Writer) error {
	if _, err := git(ctx, c.repo, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return fmt.Errorf("the repository %s has no commit to begin from", c.repo)
	}
	if s := t.Session; s != nil && s.Dir != "" {
		logLine(log, "The working copy of this task is at the worker %s in %s, and not here: the agent begins anew.", s.Worker, s.Dir)
	}
	if err := c.add(ctx, "worktree", "add", "--quiet", "--no-track", "-b", c.branch, c.root, "HEAD"); err != nil {
		return err
	}
	_, err := git(ctx, c.root, "update-ref", baseRef(c.id), "HEAD")
	return err
}

// add adds the worktree. A folder that stands in its place and is not empty is
// nobody's to remove.
func (c *workingCopy) add(ctx context.Context, args ...string) error {
	entries, err := os.ReadDir(c.root)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s is in the way of the worktree: move it away", c.root)
	}
	if _, err := git(ctx, c.repo, args...); err != nil {
		return err
	}
	marker, err := c.marker(ctx)
	if err != nil {
		return err
	}
	return os.WriteFile(marker, nil, 0o600)
}

// takeOver makes an existing worktree the copy's, if a worker made it: nobody
// else's checkout of the branch is worked in, and least of all rolled back.
func (c *workingCopy) takeOver(ctx context.Context, dir string) error {
	c.root = dir
	marker, err := c.marker(ctx)
	if err != nil {
		return err
	}
	if !exists(marker) {
		return fmt.Errorf("somebody has the branch %s checked out in %s: check out another one there", c.branch, dir)
	}
	return nil
}

// marker is the file that tells a worktree made by a worker from any other. It
// lies in git's own data about the worktree, which goes when the worktree does.
func (c *workingCopy) marker(ctx context.Context) (string, error) {
	dir, err := git(ctx, c.root, "rev-parse", "--absolute-git-dir")
	return filepath.Join(dir, "fermata-worker"), err
}

// findBase reads where the task began; for a branch that was made by hand, where it
// left the repository's own.
func (c *workingCopy) findBase(ctx context.Context) error {
	base, err := git(ctx, c.root, "rev-parse", "--verify", "--quiet", baseRef(c.id)+"^{commit}")
	if err != nil {
		base, err = git(ctx, c.root, "rev-parse", "HEAD")
	}
	c.base = base
	return err
}

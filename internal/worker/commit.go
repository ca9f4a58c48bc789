package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// commit commits all changes to the task's branch, if the policy says so.
func (c *workingCopy) commit(ctx context.Context, t *fermata.Task, log io.Writer) error {
	if c == nil || c.repo == nil || c.keepAsIs || c.cs.OnCompleted != Commit {
		return nil
	}
	ctx = c.withCopyLock(context.WithoutCancel(ctx))
	if err := c.checkWorktree(ctx); err != nil {
		return err
	}
	head, err := c.head(ctx)
	if err != nil {
		return err
	}
	done, err := c.commitAll(ctx, strings.Join(strings.Fields(t.Title), " "), t.ID)
	if err != nil || !done {
		return err
	}
	c.previousHead = head
	logLine(log, "Committed the changes to the branch %s.", c.branch)
	return nil
}

// commitAll commits all changes, and reports whether there were any.
func (c *workingCopy) commitAll(ctx context.Context, subject, task string) (bool, error) {
	head, err := c.head(ctx)
	if err != nil {
		return false, err
	}
	tree, err := c.git.stage(ctx)
	if err != nil {
		return false, err
	}
	oldTree, err := c.runInRepo(ctx, "rev-parse", "--verify", "--quiet", head+"^{tree}")
	if err != nil || tree == oldTree {
		return false, err
	}
	args := []string{"commit-tree", tree, "-p", head}
	merged, err := c.mergedCommits()
	if err != nil {
		return false, err
	}
	for _, parent := range merged {
		args = append(args, "-p", parent)
	}
	commit, err := c.repo.gitWithInput(ctx, subject+"\n\nFermata-Task: "+task+"\n", c.repo.authorEnv(ctx), args...)
	if err != nil {
		return false, err
	}
	return true, errors.Join(c.git.storeIndex(), c.moveBranch(ctx, commit, head), c.endMerge())
}

// objectName matches the name of a commit as it stands in git's files.
var objectName = lazyregexp.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// mergedCommits returns the commits that the agent began to merge without committing the merge.
func (c *workingCopy) mergedCommits() ([]string, error) {
	name := filepath.Join(c.dataDir, "MERGE_HEAD")
	if !isFile(name) {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	parents := strings.Fields(string(text))
	for _, parent := range parents {
		if !objectName().MatchString(parent) {
			return nil, fmt.Errorf("%s names no commit", name)
		}
	}
	return parents, nil
}

// endMerge removes the files that mark a merge as under way, because the merge is committed.
func (c *workingCopy) endMerge() error {
	var errs []error
	for _, name := range []string{"MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "SQUASH_MSG", "AUTO_MERGE", "CHERRY_PICK_HEAD", "REVERT_HEAD"} {
		errs = append(errs, ignoreMissing(os.Remove(filepath.Join(c.dataDir, name))))
	}
	return errors.Join(errs...)
}

// runInRepo runs git on the repository's data about the worktree. It touches no file of the copy.
func (c *workingCopy) runInRepo(ctx context.Context, args ...string) (string, error) {
	repo := *c.repo
	repo.gitDir = c.dataDir
	return repo.git(ctx, args...)
}

// head returns the commit that is checked out.
func (c *workingCopy) head(ctx context.Context) (string, error) {
	return c.runInRepo(ctx, "rev-parse", "--verify", "HEAD^{commit}")
}

// moveBranch sets the copy's branch to another commit, if the branch is at old. An empty old means any commit.
func (c *workingCopy) moveBranch(ctx context.Context, to, old string) error {
	args := []string{"update-ref", "refs/heads/" + c.branch, to}
	if old != "" {
		args = append(args, old)
	}
	_, err := c.runInRepo(ctx, args...)
	return err
}

// setBase records the commit that is checked out as the place where the next task begins.
func (c *workingCopy) setBase(ctx context.Context) error {
	_, err := c.runInRepo(ctx, "update-ref", baseRef(c.id), "HEAD")
	return err
}

// checkWorktree returns an error unless the task's own branch is checked out in its own worktree. So the worker never
// touches anything else, whatever the agent did.
func (c *workingCopy) checkWorktree(ctx context.Context) error {
	if faults := c.faults(); len(faults) > 0 {
		return errors.New(strings.Join(faults, "; "))
	}
	if !exists(c.markerFile()) {
		return fmt.Errorf("%s is not the worktree that a worker made", c.root)
	}
	if ref, err := c.runInRepo(ctx, "symbolic-ref", "--quiet", "HEAD"); err != nil || ref != "refs/heads/"+c.branch {
		return fmt.Errorf("the branch %s is not checked out any more", c.branch)
	}
	return nil
}

package worker

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A worker may be killed between any two system calls. The next worker that opens the working copy completes the
// interrupted creation, removal or rollback, or begins it again. The lock of the working copy shows that no worker uses
// the copy: git holds the lock too, and a run releases it last.

// unfinishedReason is the reason in the lock of a worktree that is being created or removed. No agent has worked in it,
// or all work in it is committed.
const unfinishedReason = "fermata: unfinished"

// withCopyLock makes every git that is started with the returned context hold the lock of the working copy.
func (c *workingCopy) withCopyLock(ctx context.Context) context.Context { return withLock(ctx, c.lock) }

// listCheckouts returns where branches are checked out: the folders by the full names of the branches. It removes a
// worktree of this copy that a worker left half created or half removed.
func (c *workingCopy) listCheckouts(ctx context.Context) (map[string]string, error) {
	all, err := c.listWorktrees(ctx)
	if err != nil {
		return nil, err
	}
	checkouts := map[string]string{}
	for _, w := range all {
		mine := w.branch == "refs/heads/"+c.branch || w.dir == c.root
		if !mine || !c.isUnfinished(w) {
			checkouts[w.branch] = w.dir
			continue
		}
		if w.dir == c.root {
			if err := os.RemoveAll(w.dir); err != nil {
				return nil, err
			}
		} else if exists(w.dir) && !exists(filepath.Join(w.dir, ".git")) {
			// Git refuses to remove the rest. It lies in another worker's folder, so git only forgets it.
			if err := c.repo.forget(w.dir); err != nil {
				return nil, err
			}
			continue
		}
		if err := c.cs.removeWorktree(ctx, *c.repo, c.id, w.dir); err != nil {
			return nil, err
		}
	}
	return checkouts, nil
}

// While its data about one worktree is incomplete, git lists no worktree at all.
const (
	listTries      = 20
	listRetryDelay = 50 * time.Millisecond
)

// listWorktrees lists the worktrees of the repository. If the data about a worktree of any task is incomplete, it waits
// for the data. If the worker of that task was killed, it removes the data.
func (c *workingCopy) listWorktrees(ctx context.Context) (all []worktree, err error) {
	for range listTries {
		if all, err = c.repo.worktrees(ctx); err == nil || ctx.Err() != nil {
			return all, err
		}
		c.removeTornData(ctx)
		wait(ctx, listRetryDelay, nil)
	}
	return nil, err
}

// removeTornData removes git's data about worktrees whose workers were killed before the data was complete.
func (c *workingCopy) removeTornData(ctx context.Context) {
	folder := filepath.Join(c.repo.common, "worktrees")
	entries, err := os.ReadDir(folder)
	if err != nil {
		return // there are none
	}
	endedCtx, cancel := context.WithCancel(ctx)
	cancel()
	for _, e := range entries {
		data := filepath.Join(folder, e.Name())
		reason, err := os.ReadFile(filepath.Join(data, "locked"))
		if err != nil || strings.TrimSpace(string(reason)) != unfinishedReason || !isTorn(data) {
			continue
		}
		if e.Name() != c.id {
			held, err := lockFile(endedCtx, filepath.Join(c.repo.common, "fermata", e.Name()+".lock"))
			if err != nil {
				continue // its worker is alive
			}
			defer held.release()
		}
		_ = os.RemoveAll(data)
	}
}

// isTorn reports whether git was killed before it had written where the repository of a worktree is: the file is
// missing or empty.
func isTorn(data string) bool {
	commonDir, err := os.ReadFile(filepath.Join(data, "commondir"))
	return err != nil || len(commonDir) == 0
}

// isUnfinished reports whether a worker was killed while it created or removed the worktree. When git has created a
// worktree, it locks the worktree for a moment with a reason of its own. A worktree that git removes is unlocked before
// git has forgotten it.
func (c *workingCopy) isUnfinished(w worktree) bool {
	return w.lockReason == unfinishedReason || w.dir == c.root && (w.lockReason == "initializing" || !exists(w.dir))
}

// removeWorktree removes a worktree with all files in it, and the worker's notes about it. It also removes a worktree
// that is only partly there.
func (cs *copyManager) removeWorktree(ctx context.Context, r repository, id, dir string) error {
	// If it is locked already, a worker that was killed locked it.
	_, _ = r.git(ctx, "worktree", "lock", "--reason", unfinishedReason, dir)
	if _, err := r.git(ctx, "worktree", "remove", "--force", "--force", dir); err != nil {
		return err
	}
	return cs.dropGitFolder(id)
}

// removeGitLocks removes the lock files that a killed git left for the working copy. No other program writes the
// files that they lock.
func (c *workingCopy) removeGitLocks() {
	for _, ref := range []string{"refs/heads/" + c.branch, baseRef(c.id), pushedRef(c.id), pushingRef(c.id)} {
		_ = os.Remove(filepath.Join(c.repo.common, filepath.FromSlash(ref)+".lock"))
	}
	for _, data := range c.dataFolders() {
		for _, name := range []string{"index.lock", "HEAD.lock", "ORIG_HEAD.lock"} {
			_ = os.Remove(filepath.Join(data, name))
		}
	}
}

// dataFolders lists the folders of git's data about this worktree. If a folder with the name was left behind, git
// appends a number to the name of the next one.
func (c *workingCopy) dataFolders() []string {
	folder := filepath.Join(c.repo.common, "worktrees")
	own := filepath.Join(folder, c.id)
	folders := []string{own}
	all, _ := os.ReadDir(folder) // no folder means no worktree
	for _, e := range all {
		data := filepath.Join(folder, e.Name())
		if data != own && strings.HasPrefix(e.Name(), c.id) && c.isOwnData(data) {
			folders = append(folders, data)
		}
	}
	return folders
}

// isOwnData reports whether git's data places a worktree in a folder with this copy's name.
func (c *workingCopy) isOwnData(data string) bool {
	gitDir, err := os.ReadFile(filepath.Join(data, "gitdir"))
	return err == nil && filepath.Base(filepath.Dir(resolveIn(data, strings.TrimSpace(string(gitDir))))) == c.id
}

// removeIncompleteData removes git's data about this worktree if git was killed before it wrote where the worktree is.
// Git lists no worktree for such data, and would give the next worktree another name.
func (c *workingCopy) removeIncompleteData() {
	own := filepath.Join(c.repo.common, "worktrees", c.id)
	gitDir, err := os.ReadFile(filepath.Join(own, "gitdir"))
	if errors.Is(err, os.ErrNotExist) || err == nil && len(gitDir) == 0 {
		_ = os.RemoveAll(own)
	}
}

// resetToBase resets the copy completely to the commit where the task began. A note in git's data about the worktree
// lets the next worker finish the reset.
func (c *workingCopy) resetToBase(ctx context.Context) error {
	if err := replaceFile(c.resetNote(), []byte(c.base)); err != nil {
		return err
	}
	if err := c.git.checkout(ctx, c.base); err != nil {
		return err
	}
	if err := errors.Join(c.moveBranch(ctx, c.base, ""), c.endMerge(), c.git.clean(ctx)); err != nil {
		return err
	}
	return os.Remove(c.resetNote())
}

// finishReset resets a copy to the commit where the task began, if a worker was killed while it did so.
func (c *workingCopy) finishReset(ctx context.Context, log io.Writer) error {
	if _, err := os.Stat(c.resetNote()); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := errors.Join(c.checkWorktree(ctx), c.findBase(ctx)); err != nil {
		return err
	}
	logLine(log, "A worker was stopped while it rolled this working copy back: it is rolled back now.")
	return c.resetToBase(ctx)
}

func (c *workingCopy) resetNote() string { return filepath.Join(c.dataDir, "fermata-going-back") }

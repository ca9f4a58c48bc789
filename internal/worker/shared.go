package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// copySpec are the requirements of a task for its working copy.
type copySpec struct {
	task *fermata.Task
	// id names the working copy.
	id string
	// from is the task at whose branch the working copy begins. If it is "", the copy begins at the repository's HEAD.
	from string
	push bool
}

// isShared reports whether the working copy has another id than the task, so that several tasks may use it.
func (w copySpec) isShared() bool { return w.id != w.task.ID }

// readCopySpec reads the copy spec from the task's spec: {"working_copy": "id", "push": true}. Tasks that name the same
// working copy share its folder and branch. With {"from": "id"}, a task has its own copy, which begins at the branch of
// another task.
func readCopySpec(t *fermata.Task) (copySpec, error) {
	var spec struct {
		WorkingCopy string `json:"working_copy"`
		From        string `json:"from"`
		Push        bool   `json:"push"`
	}
	var fault *json.UnmarshalTypeError
	if err := json.Unmarshal(t.Spec, &spec); errors.As(err, &fault) && fault.Field != "" {
		return copySpec{}, fmt.Errorf(`the task's spec must be like {"working_copy": "id", "push": true}: %s is a %s`, fault.Field, fault.Value)
	}
	w := copySpec{task: t, id: cmp.Or(spec.WorkingCopy, t.ID), from: spec.From, push: spec.Push}
	switch {
	case !fermata.IsWorkingCopyID(w.id):
		return w, fmt.Errorf("the id %q cannot name a folder", w.id)
	case w.from != "" && !fermata.IsWorkingCopyID(w.from):
		return w, fmt.Errorf("the id %q cannot name a branch", w.from)
	case w.from != "" && spec.WorkingCopy != "":
		return w, errors.New("from begins a working copy of its own, and working_copy names that of another task")
	}
	return w, nil
}

// inherit takes over a worktree that tasks share. The last task may have left changes there, because it waits or was
// stopped. They are committed, and this task begins after that commit: rolling this task back must not lose them.
func (c *workingCopy) inherit(ctx context.Context, t *fermata.Task, log io.Writer) error {
	if err := c.cs.register(c); err != nil {
		return err
	}
	last, err := os.ReadFile(c.markerFile())
	if err != nil || string(last) == t.ID {
		return err
	}
	if len(last) > 0 && !c.keepAsIs {
		if err := c.checkWorktree(ctx); err != nil {
			return err
		}
		done, err := c.commitAll(ctx, "Work in progress", string(last))
		if err != nil {
			return err
		}
		if done {
			logLine(log, "Committed what the task %s had left in the working copy.", last)
		}
		// The agent may have made commits itself, too.
		if err := c.setBase(ctx); err != nil {
			return err
		}
	}
	return replaceFile(c.markerFile(), []byte(t.ID))
}

// sharedFolder is the folder, inside the worker's folder, that lists the worktrees that are kept for further tasks. It
// has a file for each, with the path of its repository.
const sharedFolder = ".shared"

// register records a shared worktree, so that it is removed when no task needs it.
func (cs *copyManager) register(c *workingCopy) error {
	return replaceFile(filepath.Join(cs.Folder, sharedFolder, c.id), []byte(c.repo.top))
}

// tidyInterval is how often an idle worker looks for worktrees to remove.
const tidyInterval = time.Minute

// removeEndedWorktrees removes the shared worktrees whose task has ended or is unknown to the server. The id of a
// worktree is the id of its task. The branches stay, and so does a worktree with changes that were not committed.
func (w *Worker) removeEndedWorktrees(ctx context.Context) {
	if !w.copies.tidyMu.TryLock() {
		return
	}
	defer w.copies.tidyMu.Unlock()
	if time.Since(w.copies.lastTidy) < tidyInterval {
		return
	}
	w.copies.lastTidy = time.Now()
	folder := filepath.Join(w.copies.Folder, sharedFolder)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return // there are none
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue // one that is being written
		}
		t, err := w.server.Task(ctx, e.Name())
		if fermata.CodeOf(err) != fermata.CodeNotFound && (err != nil || !t.State.IsEnded()) {
			continue
		}
		if err := w.copies.removeShared(ctx, e.Name()); err != nil {
			w.log.Warn("remove a shared worktree", "id", e.Name(), "error", err)
		}
	}
}

// removeWait is how long removeShared waits for a run that is about to end.
const removeWait = time.Second

// removeShared removes a shared worktree if it has no uncommitted changes, and removes its entry. After an error the
// entry stays for the next attempt.
func (cs *copyManager) removeShared(ctx context.Context, id string) error {
	entry := filepath.Join(cs.Folder, sharedFolder, id)
	repo, err := os.ReadFile(entry)
	if err != nil {
		return err
	}
	r, ok, err := findRepository(ctx, string(repo))
	if err != nil {
		return err
	}
	root := filepath.Join(cs.Folder, id)
	if !ok || !exists(root) || cs.KeepWorktree {
		return os.Remove(entry)
	}
	lockCtx, cancel := context.WithTimeout(ctx, removeWait)
	defer cancel()
	held, err := lockFile(lockCtx, filepath.Join(r.common, "fermata", id+".lock"))
	if err != nil {
		return err
	}
	defer held.release()
	ctx = withLock(ctx, held)
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.isCommitted(ctx, &workingCopy{cs: cs, id: id, root: root, repo: &r, branch: branchOf(id)}) {
		if err := cs.removeWorktree(ctx, r, id, root); err != nil {
			return err
		}
	}
	return os.Remove(entry)
}

// isCommitted reports whether a copy is in order and has no uncommitted changes.
func (cs *copyManager) isCommitted(ctx context.Context, c *workingCopy) bool {
	seen, err := cs.checkedSettings(ctx, *c.repo)
	if err != nil {
		return false
	}
	if c.dataDir, err = c.repo.dataDirOf(c.root); err != nil || len(c.faults()) > 0 || c.openGit(ctx, seen) != nil {
		return false
	}
	head, err := c.head(ctx)
	if err != nil {
		return false
	}
	changed, err := c.git.hasChanges(ctx, head)
	return err == nil && !changed
}

package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/fermata-hq/fermata"
)

// stateFolder is the folder, inside the worker's folder, for what the worker has noted about repositories and working
// copies. No agent gets access to it.
const stateFolder = ".git-state"

// settingsFile returns the file in which the settings of a repository are noted.
func (cs *copyManager) settingsFile(r repository) string {
	sum := sha256.Sum256([]byte(r.common))
	return filepath.Join(cs.Folder, stateFolder, "repositories", filepath.Base(r.top)+"-"+hex.EncodeToString(sum[:8])+".json")
}

// gitFolder returns the worker's own git folder for a copy.
func (cs *copyManager) gitFolder(id string) string {
	return filepath.Join(cs.Folder, stateFolder, "copies", id)
}

// dropGitFolder removes the worker's own git folder for a copy, with the notes in it.
func (cs *copyManager) dropGitFolder(id string) error {
	dir := cs.gitFolder(id)
	cs.knownSettings.forget(filepath.Join(dir, worktreeNotes))
	return os.RemoveAll(dir)
}

// checkedSettings returns the settings that were noted before the first run in the repository. It returns an error if
// they have changed.
func (cs *copyManager) checkedSettings(ctx context.Context, r repository) (settings, error) {
	current, err := r.readSettings(ctx)
	if err != nil {
		return current, err
	}
	name := cs.settingsFile(r)
	seen, err := cs.knownSettings.loadOrSave(name, current)
	if err != nil {
		return seen, err
	}
	if changes := seen.changes(current); len(changes) > 0 {
		return seen, fmt.Errorf("the git configuration of %s is not as it was before the runs of this worker: %s. %s",
			r.top, joinNames(changes), repairAdvice(r, name))
	}
	return seen, nil
}

// repairAdvice returns the instructions by which a person lets the runs go on.
func repairAdvice(r repository, noted string) string {
	return fmt.Sprintf("An agent could make git run programs by it, so no run begins here. Look at %s, and undo the change; %s shows what was there. "+
		"If the change is yours, remove that file and start the worker again: the next run notes what is there then.", r.common, noted)
}

// openGit prepares the copy's own git. The settings of this worktree alone are noted when the worker first sees them.
func (c *workingCopy) openGit(ctx context.Context, seen settings) error {
	c.git = copyGit{dir: c.cs.gitFolder(c.id), root: c.root, repo: *c.repo, dataDir: c.dataDir}
	own := settings{Config: map[string][]string{}, Files: map[string]string{}}
	if err := c.repo.readConfig(ctx, filepath.Join(c.dataDir, "config.worktree"), ownPrefix, own.Config); err != nil {
		return err
	}
	name := filepath.Join(c.git.dir, worktreeNotes)
	noted, err := c.cs.knownSettings.loadOrSave(name, own)
	if err != nil {
		return err
	}
	if changes := noted.changes(own); len(changes) > 0 {
		return fmt.Errorf("the settings of the worktree %s are not as they were: %s. Undo the change in %s, or, if it is yours, remove %s and start the worker again",
			c.root, joinNames(changes), filepath.Join(c.dataDir, "config.worktree"), name)
	}
	c.git.seen = seen.merge(noted)
	c.git.branch = c.branch
	return c.git.rebuildFolder()
}

// faults describes each way in which the worktree itself differs from the one that the worker created.
func (c *workingCopy) faults() []string {
	var faults []string
	if err := checkWorkDir(c.root, c.root); err != nil {
		return []string{err.Error()}
	}
	file := filepath.Join(c.root, ".git")
	if target, ok := readLine(file, "gitdir: "); !ok || resolveIn(c.root, target) != c.dataDir {
		faults = append(faults, fmt.Sprintf("%s is not the file that git made; to repair it: rm -rf %s && echo %s >%s", file,
			fermata.QuoteShellWord(file), fermata.QuoteShellWord("gitdir: "+c.dataDir), fermata.QuoteShellWord(file)))
	}
	for name, want := range map[string]string{"commondir": c.repo.common, "gitdir": file} {
		path := filepath.Join(c.dataDir, name)
		if target, ok := readLine(path, ""); !ok || resolveIn(c.dataDir, target) != want {
			faults = append(faults, fmt.Sprintf("%s does not name %s; to repair it: echo %s >%s", path, want, fermata.QuoteShellWord(want), fermata.QuoteShellWord(path)))
		}
	}
	return faults
}

// readLine returns the text after the prefix in the only line of a small file. It returns false for any other file.
func readLine(name, prefix string) (string, bool) {
	text, ok := readRegular(name)
	if !ok {
		return "", false
	}
	line, ok := strings.CutPrefix(strings.TrimSuffix(text, "\n"), prefix)
	return line, ok && !strings.Contains(line, "\n")
}

// readRegular returns the text of a small regular file. It returns false for a link or a pipe.
func readRegular(name string) (string, bool) {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return "", false
	}
	data, err := os.ReadFile(name)
	return string(data), err == nil
}

// tampering describes, once the agent has ended, which of git's settings and files the agent changed, and how a person
// repairs them. It returns "" if nothing changed. Whatever the worker cannot read counts as changed.
func (c *workingCopy) tampering(ctx context.Context) string {
	if c == nil || c.repo == nil {
		return ""
	}
	ctx = c.withCopyLock(context.WithoutCancel(ctx))
	reasons := append(c.faults(), c.git.faults()...)
	current, err := c.repo.readSettings(ctx)
	if err == nil {
		err = c.repo.readConfig(ctx, filepath.Join(c.dataDir, "config.worktree"), ownPrefix, current.Config)
	}
	if err != nil {
		reasons = append(reasons, err.Error())
	} else if changes := c.git.seen.changes(current); len(changes) > 0 {
		reasons = append(reasons, joinNames(changes)+". "+repairAdvice(*c.repo, c.cs.settingsFile(*c.repo)))
	}
	return strings.Join(reasons, "; ")
}

// failIfTampered turns the result of a run that changed git's settings or files into a failure. Then nothing is
// committed, and the copy stays so that people can look at it.
func (a *activeRun) failIfTampered(ctx context.Context, fin fermata.Finish) fermata.Finish {
	why := a.copy.tampering(ctx)
	if why == "" {
		return fin
	}
	a.copy.keepAsIs = true
	f := a.failAfter(fin, codeTampered, "While the run went on, the git configuration of its working copy or repository was changed, so nothing was committed. "+
		"The working copy "+a.copy.root+" stays as it is, and no run begins in it until a person has repaired it: "+why)
	f.Session = fin.Session
	return f
}

// joinNames joins names for a sentence, and gives only the first of many.
func joinNames(names []string) string {
	const most = 10
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// indexFile returns the file in which the worker's git keeps the changes to commit.
func (g copyGit) indexFile() string { return filepath.Join(g.dir, "index") }

// loadIndex copies the index as the agent left it, with the files that the agent added by force or removed. The copy
// cannot change while git reads it. loadIndex returns the repositories inside the working copy that the index names.
func (g copyGit) loadIndex(ctx context.Context) ([]string, error) {
	if err := ignoreMissing(os.Remove(g.indexFile() + ".lock")); err != nil {
		return nil, err
	}
	parts, err := filepath.Glob(filepath.Join(g.dataDir, "sharedindex.*"))
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		if err := g.copyIn(part, filepath.Base(part)); err != nil {
			return nil, err
		}
	}
	if err := g.copyIn(filepath.Join(g.dataDir, "index"), "index"); err != nil || !exists(g.indexFile()) {
		return nil, err
	}
	return g.listGitLinks(ctx)
}

// storeIndex gives the worker's index to the agent's git.
func (g copyGit) storeIndex() error {
	data, err := os.ReadFile(g.indexFile())
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(g.dataDir, "index"), data)
}

// gitLink is the mode of an index entry that is a repository of its own.
const gitLink = "160000"

// listGitLinks returns the repositories inside the copy that the index names. It refuses an index with a path that leads
// out of the copy.
func (g copyGit) listGitLinks(ctx context.Context) ([]string, error) {
	out, err := g.git(ctx, "ls-files", "--stage", "-z")
	if err != nil {
		return nil, err
	}
	var links []string
	for entry := range strings.SplitSeq(strings.TrimRight(out, "\x00"), "\x00") {
		if entry == "" {
			continue
		}
		fields, path, ok := strings.Cut(entry, "\t")
		if !ok || !isInsideCopy(path) {
			return nil, fmt.Errorf("the index of the working copy names %q, which is no file of it", path)
		}
		if strings.HasPrefix(fields, gitLink+" ") {
			links = append(links, path)
		}
	}
	return links, nil
}

// isInsideCopy reports whether a path of the index names a file of the working copy, and no file of git's own.
func isInsideCopy(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		switch {
		case part == "", part == ".", part == "..", strings.EqualFold(part, ".git"):
			return false
		}
	}
	return true
}

// makeWorkDir creates the folder in which an agent works. It never creates a folder outside the copy.
func makeWorkDir(root, workDir string) error {
	if err := checkWorkDir(root, workDir); err != nil {
		return err
	}
	name, err := filepath.Rel(root, workDir)
	if err != nil {
		return err
	}
	rootDir, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer rootDir.Close() //nolint:errcheck // nothing was written by it
	if err := rootDir.MkdirAll(name, 0o750); err != nil {
		return fmt.Errorf("%s leads out of the working copy, or cannot be made: %w", workDir, err)
	}
	return checkWorkDir(root, workDir)
}

// checkWorkDir returns an error unless the folder in which an agent works is the copy's own. A link in its place would
// lead the next agent, and its sandbox, elsewhere.
func checkWorkDir(root, workDir string) error {
	info, err := os.Lstat(root)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no folder any more", root)
	}
	target, err := filepath.EvalSymlinks(workDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if realRoot, err := filepath.EvalSymlinks(root); err != nil || target != realRoot && !strings.HasPrefix(target, realRoot+string(filepath.Separator)) {
		return errors.Join(err, fmt.Errorf("%s leads out of the working copy, to %s: remove the link", workDir, target))
	}
	return nil
}

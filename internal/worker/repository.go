package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// repository is a git repository in which tasks are worked on.
type repository struct {
	// top is the folder in which git runs. prefix is the path from there to the configured folder.
	top, prefix string
	// gitDir is the git folder of top. common is the git folder that all worktrees share.
	gitDir, common string
}

// findRepository returns the repository to which a folder belongs, and reports whether there is one. A folder inside a
// repository belongs to it only if the repository tracks the folder. A repository that git cannot read is an error.
func findRepository(ctx context.Context, dir string) (repository, bool, error) {
	inside, err := isInRepository(dir)
	if err != nil {
		return repository{}, false, err
	}
	out, err := runGitIn(ctx, dir, "rev-parse", "--path-format=absolute", "--git-common-dir", "--absolute-git-dir",
		"--is-bare-repository", "--show-prefix")
	if err != nil && inside {
		return repository{}, false, fmt.Errorf("git cannot read the repository of %s: %w", dir, err)
	}
	if err != nil {
		return repository{}, false, nil //nolint:nilerr // it is no repository
	}
	lines := append(strings.Split(out, "\n"), "", "")
	r := repository{top: dir, common: lines[0], gitDir: lines[1], prefix: lines[3]}
	if lines[2] == "true" || r.prefix == "" {
		return r, true, nil
	}
	if _, err := runGitIn(ctx, dir, "rev-parse", "--verify", "--quiet", "HEAD:./"); err != nil {
		return repository{}, false, nil //nolint:nilerr // the folder is not tracked
	}
	r.top, err = runGitIn(ctx, dir, "rev-parse", "--show-toplevel")
	return r, err == nil, err
}

// isInRepository reports whether there is a repository at the folder or around it. It returns an error if the
// configuration is not a regular file: git would wait for a pipe.
func isInRepository(dir string) (bool, error) {
	for {
		gitPath := filepath.Join(dir, ".git")
		if _, err := os.Lstat(gitPath); err == nil { //nolint:gosec // the folder is the one that the person named
			config := filepath.Join(gitPath, "config")
			if exists(config) && !isFile(config) {
				return true, fmt.Errorf("%s is no file: put the one of the repository back", config)
			}
			return true, nil
		}
		outer := filepath.Dir(dir)
		if outer == dir {
			return false, nil
		}
		dir = outer
	}
}

// git runs a command that touches no file of a working copy. So neither attributes nor filters of the copy apply.
func (r repository) git(ctx context.Context, args ...string) (string, error) {
	return r.gitWithInput(ctx, "", nil, args...)
}

// gitWithInput runs a command as git does, with input on its standard input and additional variables.
func (r repository) gitWithInput(ctx context.Context, input string, env []string, args ...string) (string, error) {
	env = slices.Concat(localEnv(), env, []string{"GIT_COMMON_DIR=" + r.common})
	return runGit(ctx, gitCall{dir: r.top, env: env, input: input, location: []string{"--git-dir=" + r.gitDir}, args: args})
}

// authorEnv returns the variables that name the author of commits. If git knows no author, the author is Fermata.
func (r repository) authorEnv(ctx context.Context) []string {
	name, email := "Fermata", "fermata@localhost"
	if value, err := r.git(ctx, "config", "user.name"); err == nil && value != "" {
		name = value
	}
	if value, err := r.git(ctx, "config", "user.email"); err == nil && value != "" {
		email = value
	}
	return []string{"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + email, "GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + email}
}

// worktree is one worktree of a repository, as git lists it.
type worktree struct {
	// dir is its folder, branch the full name of the branch that is checked out, and lockReason the reason for its
	// lock.
	dir, branch, lockReason string
}

// worktrees lists the worktrees of a repository.
func (r repository) worktrees(ctx context.Context) ([]worktree, error) {
	out, err := r.git(ctx, "worktree", "list", "--porcelain")
	if err != nil {
		return nil, err
	}
	var all []worktree
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "worktree":
			all = append(all, worktree{dir: value})
		case "branch":
			all[len(all)-1].branch = value
		case "locked":
			all[len(all)-1].lockReason = value
		}
	}
	return all, nil
}

// dataDirOf returns the folder in which the repository keeps its data about the worktree at dir. It searches from the
// repository's side, because an agent can write the file .git of its worktree.
func (r repository) dataDirOf(dir string) (string, error) {
	folder := filepath.Join(r.common, "worktrees")
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	for _, e := range entries {
		data := filepath.Join(folder, e.Name())
		target, err := os.ReadFile(filepath.Join(data, "gitdir"))
		if err != nil {
			continue // it is incomplete, or another worker removes it
		}
		if gitFile := resolveIn(data, strings.TrimSpace(string(target))); gitFile == filepath.Join(dir, ".git") {
			return data, nil
		}
	}
	return "", errors.New("the repository " + r.top + " does not know the worktree " + dir + " any more")
}

// forget removes the repository's data about the worktree at dir, and leaves the files of the worktree.
func (r repository) forget(dir string) error {
	data, err := r.dataDirOf(dir)
	if err != nil {
		return err
	}
	return os.RemoveAll(data)
}

// resolveIn returns the cleaned path. A relative path begins at the folder.
func resolveIn(folder, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(folder, path)
}

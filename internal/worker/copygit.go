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

// copyGit is the git with which the worker handles the files of a working copy. It has its own git folder outside the
// copy. Its configuration is the one that the worker noted before the first run. So nothing that an agent writes into
// the copy or the repository can make it start a program.
type copyGit struct {
	// dir is its git folder, root the folder with the files.
	dir, root string
	// repo has the objects. dataDir is the repository's folder about the worktree; the index that the agent sees is
	// there.
	repo    repository
	dataDir string
	// seen are the settings that were noted.
	seen settings
	// branch is the branch that is checked out.
	branch string
}

// worktreeNotes is the name of the file in the git folder that holds the noted settings of the worktree.
const worktreeNotes = "worktree.json"

// rebuildFolder rebuilds the git folder, because an agent that is not isolated can write into it. Only the notes of the
// worktree stay.
func (g copyGit) rebuildFolder() error {
	if err := g.clearFolder(); err != nil {
		return err
	}
	for _, name := range []string{"objects", "refs", "info"} {
		if err := os.MkdirAll(filepath.Join(g.dir, name), 0o700); err != nil {
			return err
		}
	}
	errs := []error{
		g.copyIn(filepath.Join(g.repo.common, "info", "exclude"), "info/exclude"),
		g.copyIn(filepath.Join(g.repo.common, "info", "attributes"), "info/attributes"),
		g.copyIn(filepath.Join(g.dataDir, "info", "sparse-checkout"), "info/sparse-checkout"),
	}
	for name, text := range g.ownFiles() {
		errs = append(errs, replaceFile(filepath.Join(g.dir, name), []byte(text)))
	}
	return errors.Join(errs...)
}

// clearFolder removes everything in the git folder except the notes of the worktree.
func (g copyGit) clearFolder() error {
	switch target, err := filepath.EvalSymlinks(g.dir); {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case target != g.dir:
		return fmt.Errorf("%s leads to %s: remove the link", g.dir, target)
	}
	entries, err := os.ReadDir(g.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == worktreeNotes {
			continue
		}
		if err := os.RemoveAll(filepath.Join(g.dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// ownFiles returns the files of the git folder that the worker writes itself: their text by their names.
func (g copyGit) ownFiles() map[string]string {
	return map[string]string{"config": g.config(), "HEAD": "ref: refs/heads/" + g.branch + "\n"}
}

// redirectNames are the names of files and folders that would make git read another configuration. The worker creates
// none of them.
var redirectNames = []string{"commondir", "config.worktree", "hooks"}

// faults describes each difference between the git folder and the one that the worker created.
func (g copyGit) faults() []string {
	var faults []string
	for name, want := range g.ownFiles() {
		path := filepath.Join(g.dir, name)
		if text, ok := readRegular(path); !ok || text != want {
			faults = append(faults, path+", the worker's own, was changed; the next run makes it again")
		}
	}
	for _, name := range redirectNames {
		path := filepath.Join(g.dir, name)
		if _, err := os.Lstat(path); err == nil {
			faults = append(faults, path+" was put into the worker's own git folder; the next run removes it")
		}
	}
	slices.Sort(faults)
	return faults
}

// config returns the whole configuration of the git folder.
func (g copyGit) config() string {
	var text strings.Builder
	writeSetting(&text, "core.repositoryformatversion", "0")
	writeSetting(&text, "lfs.storage", filepath.Join(g.repo.common, "lfs"))
	text.WriteString(g.seen.carriedConfig())
	writeSetting(&text, "core.bare", "false")
	for _, key := range []string{"remote.origin.url", "remote.origin.pushurl"} {
		if url := g.seen.lastValue(key); isRelativePath(url) {
			// Git would resolve it from the working copy.
			writeSetting(&text, key, filepath.Join(g.repo.top, url))
		}
	}
	return text.String()
}

// isRelativePath reports whether the address of a remote is a relative path.
func isRelativePath(url string) bool {
	return url != "" && !filepath.IsAbs(url) && !strings.Contains(url, ":")
}

// copyIn copies a file into the git folder. If the original does not exist, it removes the copy.
func (g copyGit) copyIn(from, name string) error {
	to := filepath.Join(g.dir, filepath.FromSlash(name))
	if !isFile(from) {
		return ignoreMissing(os.Remove(to))
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return replaceFile(to, data)
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// git runs a command on the files of the working copy.
func (g copyGit) git(ctx context.Context, args ...string) (string, error) {
	return g.gitWithInput(ctx, "", args...)
}

// gitWithInput runs a command as git does, with input on its standard input.
func (g copyGit) gitWithInput(ctx context.Context, input string, args ...string) (string, error) {
	env := localEnv()
	if g.seen.lastValue("extensions.partialclone") != "" {
		// In a partial clone, git fetches missing objects from the remote that it was cloned from.
		env = slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, "GIT_ALLOW_PROTOCOL=") })
	}
	return g.run(ctx, env, input, args)
}

func (g copyGit) run(ctx context.Context, env []string, input string, args []string) (string, error) {
	env = append(env, "GIT_OBJECT_DIRECTORY="+filepath.Join(g.repo.common, "objects"))
	if shallow := filepath.Join(g.repo.common, "shallow"); exists(shallow) {
		env = append(env, "GIT_SHALLOW_FILE="+shallow)
	}
	location := []string{"--git-dir=" + g.dir, "--work-tree=" + g.root}
	return runGit(ctx, gitCall{dir: g.root, env: env, input: input, location: location, args: args})
}

// checkout makes the files and the index match a commit, whatever state they were in. Files that git does not know
// stay.
func (g copyGit) checkout(ctx context.Context, commit string) error {
	if err := g.prepareCommand(ctx); err != nil {
		return err
	}
	if _, err := g.loadIndex(ctx); err != nil {
		// Rolling back works with any index. Without one, git overwrites the files that are in its way.
		if err := ignoreMissing(os.Remove(g.indexFile())); err != nil {
			return err
		}
	}
	if _, err := g.git(ctx, "read-tree", "--reset", "-u", "--no-recurse-submodules", commit); err != nil {
		return err
	}
	return g.storeIndex()
}

// stage adds all changes of the files to the index, and returns the resulting tree. For a repository inside the copy,
// it records only the commit. It runs no git in that repository, because such a git would use the repository's own
// configuration.
func (g copyGit) stage(ctx context.Context) (string, error) {
	if err := g.prepareCommand(ctx); err != nil {
		return "", err
	}
	links, err := g.loadIndex(ctx)
	if err != nil {
		return "", err
	}
	if err := g.addAll(ctx, links); err != nil {
		return "", err
	}
	return g.git(ctx, "write-tree")
}

// addAll adds all changes. Its pathspecs leave out the repositories inside the copy.
func (g copyGit) addAll(ctx context.Context, links []string) error {
	args := []string{"add", "--all", "--", "."}
	for _, path := range links {
		args = append(args, ":(top,exclude,literal)"+path)
	}
	if _, err := g.git(ctx, args...); err != nil || len(links) == 0 {
		return err
	}
	input := strings.Join(links, "\x00") + "\x00"
	_, err := g.gitWithInput(ctx, input, "update-index", "--add", "--remove", "--replace", "-z", "--stdin")
	return err
}

// hasChanges reports whether the copy contains changes that are not committed.
func (g copyGit) hasChanges(ctx context.Context, head string) (bool, error) {
	tree, err := g.stage(ctx)
	if err != nil {
		return true, err
	}
	headTree, err := g.git(ctx, "rev-parse", "--verify", "--quiet", head+"^{tree}")
	return tree != headTree, err
}

// clean removes the files that git neither knows nor ignores.
func (g copyGit) clean(ctx context.Context) error {
	_, err := g.git(ctx, "clean", "--quiet", "-ffd")
	return err
}

// prepareCommand rebuilds the git folder and refuses programs that lie in the working copy. Call it before a git
// command that can start a program.
func (g copyGit) prepareCommand(ctx context.Context) error {
	if err := g.rebuildFolder(); err != nil {
		return err
	}
	return g.checkPrograms(ctx)
}

// programKeys matches the settings whose value is a program that git starts.
const programKeys = `^(filter\..*\.(clean|smudge|process)|credential\.(.*\.)?helper|core\.(sshcommand|askpass))$`

// checkPrograms returns an error if a setting names a program in the working copy, because an agent can change such a
// program.
func (g copyGit) checkPrograms(ctx context.Context) error {
	out, err := g.git(ctx, "config", "--includes", "-z", "--get-regexp", programKeys)
	if err != nil {
		return nil // git fails if no setting matches
	}
	for entry := range strings.SplitSeq(strings.TrimRight(out, "\x00"), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		for _, word := range strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune(" \t\n'\"!;|&()=", c) }) {
			if g.isInCopy(word) {
				return fmt.Errorf("git's setting %s runs %s, which lies in the working copy, where an agent can change it: name a program outside", key, word)
			}
		}
	}
	return nil
}

// isInCopy reports whether a word of a command names a file of the working copy.
func (g copyGit) isInCopy(word string) bool {
	if filepath.IsAbs(word) {
		return strings.HasPrefix(filepath.Clean(word), g.root+string(filepath.Separator))
	}
	if !strings.ContainsAny(word, "./") || strings.Trim(word, "./") == "" {
		return false
	}
	_, err := os.Lstat(filepath.Join(g.root, word))
	return err == nil
}

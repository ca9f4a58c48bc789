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

// copyGit is the git with which the worker looks at the files of a working copy.
// It has a git folder of its own outside the copy: its configuration is what the
// worker noted before the first run. Nothing that an agent writes into the copy or
// into the repository can make it start a program.
type copyGit struct {
	// dir is its git folder, root the files that it looks at.
	dir, root string
	// repo has the objects; data is the repository's folder about the worktree,
	// where the index is that the agent sees.
	repo repository
	data string
	// seen are the settings that were noted.
	seen settings
	// branch is what is checked out.
	branch string
}

// worktreeNotes is the file of the git folder with the noted settings of the worktree.
const worktreeNotes = "worktree.json"

// prepare makes the git folder anew, because an agent that is not isolated can write into
// it. Only the notes of the worktree stay.
func (g copyGit) prepare() error {
	if err := g.empty(); err != nil {
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
		g.copyIn(filepath.Join(g.data, "info", "sparse-checkout"), "info/sparse-checkout"),
	}
	for name, text := range g.fixed() {
		errs = append(errs, replaceFile(filepath.Join(g.dir, name), []byte(text)))
	}
	return errors.Join(errs...)
}

// empty removes what the git folder holds, without the notes of the worktree.
func (g copyGit) empty() error {
	switch place, err := filepath.EvalSymlinks(g.dir); {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case place != g.dir:
		return fmt.Errorf("%s leads to %s: remove the link", g.dir, place)
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

// fixed returns the text of those files of the git folder that the worker writes itself, by their names.
func (g copyGit) fixed() map[string]string {
	return map[string]string{"config": g.config(), "HEAD": "ref: refs/heads/" + g.branch + "\n"}
}

// leading are names of files and folders by which git would read another configuration. The worker makes none of them.
var leading = []string{"commondir", "config.worktree", "hooks"}

// faults describes what in the git folder is not as the worker made it.
func (g copyGit) faults() []string {
	var faults []string
	for name, want := range g.fixed() {
		path := filepath.Join(g.dir, name)
		if text, ok := readRegular(path); !ok || text != want {
			faults = append(faults, path+", the worker's own, was changed; the next run makes it anew")
		}
	}
	for _, name := range leading {
		path := filepath.Join(g.dir, name)
		if _, err := os.Lstat(path); err == nil {
			faults = append(faults, path+" was put into the worker's own git folder; the next run removes it")
		}
	}
	slices.Sort(faults)
	return faults
}

// config is the whole configuration of the git folder.
func (g copyGit) config() string {
	var text strings.Builder
	writeSetting(&text, "core.repositoryformatversion", "0")
	writeSetting(&text, "lfs.storage", filepath.Join(g.repo.common, "lfs"))
	text.WriteString(g.seen.carry())
	writeSetting(&text, "core.bare", "false")
	for _, key := range []string{"remote.origin.url", "remote.origin.pushurl"} {
		if url := g.seen.lastValue(key); isRelativePath(url) {
			// Git would look for it in the working copy.
			writeSetting(&text, key, filepath.Join(g.repo.top, url))
		}
	}
	return text.String()
}

// isRelativePath reports whether the address of a remote is a path that begins in
// the current folder.
func isRelativePath(url string) bool {
	return url != "" && !filepath.IsAbs(url) && !strings.Contains(url, ":")
}

// copyIn copies a file into the git folder, or removes it there with the original.
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
	return g.gitInput(ctx, "", args...)
}

// gitInput is git with something to read.
func (g copyGit) gitInput(ctx context.Context, input string, args ...string) (string, error) {
	env := localEnv()
	if g.seen.lastValue("extensions.partialclone") != "" {
		// What a partial clone lacks, git fetches from where it was cloned.
		env = slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, "GIT_ALLOW_PROTOCOL=") })
	}
	return g.run(ctx, env, input, args)
}

func (g copyGit) run(ctx context.Context, env []string, input string, args []string) (string, error) {
	env = append(env, "GIT_OBJECT_DIRECTORY="+filepath.Join(g.repo.common, "objects"))
	if shallow := filepath.Join(g.repo.common, "shallow"); exists(shallow) {
		env = append(env, "GIT_SHALLOW_FILE="+shallow)
	}
	place := []string{"--git-dir=" + g.dir, "--work-tree=" + g.root}
	return runGit(ctx, gitCall{dir: g.root, env: env, input: input, place: place, args: args})
}

// checkout makes the files and the index those of a commit, whatever was there.
// Files that git does not know stay.
func (g copyGit) checkout(ctx context.Context, commit string) error {
	if err := g.begin(ctx); err != nil {
		return err
	}
	if _, err := g.loadIndex(ctx); err != nil {
		// Rolling back works with any index; without one, git overwrites what is in its way.
		if err := ignoreMissing(os.Remove(g.index())); err != nil {
			return err
		}
	}
	if _, err := g.git(ctx, "read-tree", "--reset", "-u", "--no-recurse-submodules", commit); err != nil {
		return err
	}
	return g.storeIndex()
}

// stage adds all changes of the files to the index, and returns the tree that
// comes of it. Of a repository inside the copy it takes the commit, and runs no
// git in there: that one would go by the configuration that lies there.
func (g copyGit) stage(ctx context.Context) (string, error) {
	if err := g.begin(ctx); err != nil {
		return "", err
	}
	links, err := g.loadIndex(ctx)
	if err != nil {
		return "", err
	}
	if err := g.add(ctx, links); err != nil {
		return "", err
	}
	return g.git(ctx, "write-tree")
}

// add adds all changes. Pathspecs leave the repositories inside out.
func (g copyGit) add(ctx context.Context, links []string) error {
	args := []string{"add", "--all", "--", "."}
	for _, path := range links {
		args = append(args, ":(top,exclude,literal)"+path)
	}
	if _, err := g.git(ctx, args...); err != nil || len(links) == 0 {
		return err
	}
	input := strings.Join(links, "\x00") + "\x00"
	_, err := g.gitInput(ctx, input, "update-index", "--add", "--remove", "--replace", "-z", "--stdin")
	return err
}

// hasChanges reports whether the copy has anything that is in no commit.
func (g copyGit) hasChanges(ctx context.Context, head string) (bool, error) {
	tree, err := g.stage(ctx)
	if err != nil {
		return true, err
	}
	was, err := g.git(ctx, "rev-parse", "--verify", "--quiet", head+"^{tree}")
	return tree != was, err
}

// clean removes what git neither knows nor ignores.
func (g copyGit) clean(ctx context.Context) error {
	_, err := g.git(ctx, "clean", "--quiet", "-ffd")
	return err
}

// begin makes the git folder anew, and refuses programs that lie in the working copy. Call
// it before a git command that can start a program.
func (g copyGit) begin(ctx context.Context) error {
	if err := g.prepare(); err != nil {
		return err
	}
	return g.checkPrograms(ctx)
}

// programKeys are the settings whose value is a program that git starts.
const programKeys = `^(filter\..*\.(clean|smudge|process)|credential\.(.*\.)?helper|core\.(sshcommand|askpass))$`

// checkPrograms refuses programs that lie in the working copy: an agent can write
// what they do.
func (g copyGit) checkPrograms(ctx context.Context) error {
	out, err := g.git(ctx, "config", "--includes", "-z", "--get-regexp", programKeys)
	if err != nil {
		return nil // git fails where no setting fits
	}
	for entry := range strings.SplitSeq(strings.TrimRight(out, "\x00"), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		for _, word := range strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune(" \t\n'\"!;|&()=", c) }) {
			if g.liesInCopy(word) {
				return fmt.Errorf("git's setting %s runs %s, which lies in the working copy, where an agent can change it: name a program outside", key, word)
			}
		}
	}
	return nil
}

// liesInCopy reports whether a word of a command names a file of the working copy.
func (g copyGit) liesInCopy(word string) bool {
	if filepath.IsAbs(word) {
		return strings.HasPrefix(filepath.Clean(word), g.root+string(filepath.Separator))
	}
	if !strings.ContainsAny(word, "./") || strings.Trim(word, "./") == "" {
		return false
	}
	_, err := os.Lstat(filepath.Join(g.root, word))
	return err == nil
}

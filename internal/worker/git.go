package worker

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// gitTimeout bounds one call of git.
const gitTimeout = 5 * time.Minute

// gitNames are the variables that git is given. None names a repository, and
// none is a secret of the worker: what an agent writes into the configuration
// of a repository may be run by git.
var gitNames = []string{"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "XDG_CONFIG_HOME", "SYSTEMROOT"}

// git runs the program in a folder where a repository or a worktree begins, and
// returns its output without the last newline. A worktree that lost its .git is
// never taken for a part of a repository around it.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	return gitInput(ctx, dir, "", args...)
}

// gitInput is git with something to read.
func gitInput(ctx context.Context, dir, input string, args ...string) (string, error) {
	return runGit(ctx, dir, input, append(gitEnv(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir)), args)
}

// gitAround runs git in a folder that may lie inside a repository.
func gitAround(ctx context.Context, dir string, args ...string) (string, error) {
	return runGit(ctx, dir, "", gitEnv(), args)
}

// runGit lets neither hooks nor prompts nor signing get in the way.
func runGit(ctx context.Context, dir, input string, env, args []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	fixed := []string{
		"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false",
		"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "advice.detachedHead=false",
	}
	cmd := exec.CommandContext(ctx, "git", append(fixed, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, env, strings.NewReader(input)
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, clip(strings.TrimSpace(errs.String()), 1000))
	}
	return strings.TrimRight(out.String(), "\n"), nil
}

// gitEnv is the environment of git.
func gitEnv() []string {
	env := []string{"GIT_TERMINAL_PROMPT=0", "LC_ALL=C"}
	for _, name := range gitNames {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// repository is a git repository that tasks are worked in.
type repository struct {
	// top is the folder that git is run in, and prefix the way from there to the
	// folder that was named.
	top, prefix string
	// common is the folder in which all worktrees share their data.
	common string
}

// findRepository returns the repository to which a folder belongs. A folder
// that merely lies inside of one, and that it does not track, does not.
func findRepository(ctx context.Context, dir string) (repository, bool) {
	out, err := gitAround(ctx, dir, "rev-parse", "--path-format=absolute", "--git-common-dir", "--is-bare-repository", "--show-prefix")
	if err != nil {
		return repository{}, false
	}
	lines := append(strings.Split(out, "\n"), "", "")
	r := repository{top: dir, common: lines[0], prefix: lines[2]}
	if lines[1] == "true" || r.prefix == "" {
		return r, true
	}
	if _, err := gitAround(ctx, dir, "rev-parse", "--verify", "--quiet", "HEAD:./"); err != nil {
		return repository{}, false
	}
	r.top, err = gitAround(ctx, dir, "rev-parse", "--show-toplevel")
	return r, err == nil
}

// identity returns the options that give commits an author where git knows none.
func identity(ctx context.Context, dir string) []string {
	var opts []string
	for _, field := range [][2]string{{"user.name", "Fermata"}, {"user.email", "fermata@localhost"}} {
		if value, err := git(ctx, dir, "config", field[0]); err != nil || value == "" {
			opts = append(opts, "-c", field[0]+"="+field[1])
		}
	}
	return opts
}

// worktrees returns where branches are checked out, by their full names.
func worktrees(ctx context.Context, repo string) (map[string]string, error) {
	out, err := git(ctx, repo, "worktree", "list", "--porcelain")
	if err != nil {
		return nil, err
	}
	at, dir := map[string]string{}, ""
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "worktree":
			dir = value
		case "branch":
			at[value] = dir
		}
	}
	return at, nil
}

// exists reports whether there is something at the path.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

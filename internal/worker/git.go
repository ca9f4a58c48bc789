package worker

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// gitTimeout is the time limit of one call of git.
const gitTimeout = 5 * time.Minute

// gitEnvNames are the environment variables that git gets. None names a repository. None is a secret of the worker,
// because git starts the user's filters with them.
var gitEnvNames = []string{"HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "XDG_CONFIG_HOME", "SYSTEMROOT"}

// fixedSettings apply to every git that the worker runs, whatever a configuration says. Each of these settings can
// otherwise start a program or lead git out of its folder.
var fixedSettings = []string{
	"core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "core.pager=cat", "core.editor=:", "core.alternateRefsCommand=true",
	"core.splitIndex=false", "core.untrackedCache=false", "commit.gpgSign=false", "push.gpgSign=false", "submodule.recurse=false",
	"push.recurseSubmodules=no", "protocol.ext.allow=never", "worktree.useRelativePaths=false",
	"gc.auto=0", "maintenance.auto=false", "advice.detachedHead=false", "advice.addEmbeddedRepo=false",
}

// gitCall is one call of git.
type gitCall struct {
	// dir is the folder in which git runs. env is its whole environment.
	dir string
	env []string
	// input is the standard input of git. location are the options that say where the repository is, and args
	// the command.
	input          string
	location, args []string
}

// lockKey is the context key of the lock that git holds as well.
type lockKey struct{}

// withLock makes every git that is started with the returned context hold the lock until it ends.
func withLock(ctx context.Context, held *lock) context.Context {
	return context.WithValue(ctx, lockKey{}, held)
}

// runGitIn runs git in a folder that may lie inside a repository, and lets git find that repository. Never call it in a
// working copy: an agent can put any repository in git's way there.
func runGitIn(ctx context.Context, dir string, args ...string) (string, error) {
	return runGit(ctx, gitCall{dir: dir, env: localEnv(), args: args})
}

// runGit runs git without hooks, prompts and signing. It returns the output without its trailing newlines.
func runGit(ctx context.Context, call gitCall) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	var args []string
	for _, setting := range fixedSettings {
		args = append(args, "-c", setting)
	}
	cmd := exec.CommandContext(ctx, "git", slices.Concat(args, call.location, call.args)...)
	cmd.Dir, cmd.Env, cmd.Stdin = call.dir, call.env, strings.NewReader(call.input)
	cmd.WaitDelay = time.Second
	if held, ok := ctx.Value(lockKey{}).(*lock); ok {
		held.shareWith(cmd)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(call.args, " "), err, fermata.Truncate(strings.TrimSpace(errs.String()), 1000))
	}
	return strings.TrimRight(out.String(), "\n"), nil
}

// localEnv returns the environment of a git that connects to no other repository.
func localEnv() []string {
	env := append(quietEnv(), "PATH="+safePath(), "GIT_ALLOW_PROTOCOL=none")
	for _, name := range gitEnvNames {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// quietEnv returns the variables that keep git from prompting a person and from starting a pager or an editor.
func quietEnv() []string {
	return []string{"GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "GIT_EDITOR=:", "GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C"}
}

// safePath returns PATH without relative folders. Git starts programs while it runs in a working copy, and must not
// take one from there.
func safePath() string {
	folders := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(folders, string(os.PathListSeparator))
}

// exists reports whether there is a file or folder at the path.
func exists(path string) bool {
	_, err := os.Stat(path) //nolint:gosec // it is only looked whether something is there
	return err == nil
}

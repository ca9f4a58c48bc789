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
)

// gitTimeout bounds one call of git.
const gitTimeout = 5 * time.Minute

// gitNames are the variables that git is given. None names a repository, and
// none is a secret of the worker: a filter of the user's is started with them.
var gitNames = []string{"HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "XDG_CONFIG_HOME", "SYSTEMROOT"}

// fixedSettings hold for every git of the worker, whatever a configuration says.
// Each of these settings can start a program or lead git out of its folder.
var fixedSettings = []string{
	"core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "core.pager=cat", "core.editor=:", "core.alternateRefsCommand=true",
	"core.splitIndex=false", "core.untrackedCache=false", "commit.gpgSign=false", "push.gpgSign=false", "submodule.recurse=false",
	"push.recurseSubmodules=no", "protocol.ext.allow=never", "worktree.useRelativePaths=false",
	"gc.auto=0", "maintenance.auto=false", "advice.detachedHead=false", "advice.addEmbeddedRepo=false",
}

// gitCall is one call of git.
type gitCall struct {
	// dir is where it runs; env is its whole environment.
	dir string
	env []string
	// input is what it reads; place are the options that say where the repository
	// is, and args the command.
	input       string
	place, args []string
}

// lockKey is the key of the lock that git holds as well.
type lockKey struct{}

// withLock lets every git of ctx hold the lock until it ends.
func withLock(ctx context.Context, held *lock) context.Context {
	return context.WithValue(ctx, lockKey{}, held)
}

// findGit runs git in a folder that may lie inside a repository, and lets git
// find that repository. It is never run in a working copy: there an agent can
// put any repository in git's way.
func findGit(ctx context.Context, dir string, args ...string) (string, error) {
	return runGit(ctx, gitCall{dir: dir, env: localEnv(), args: args})
}

// runGit lets neither hooks nor prompts nor signing get in the way. It returns
// the output without the last newline.
func runGit(ctx context.Context, call gitCall) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	var args []string
	for _, setting := range fixedSettings {
		args = append(args, "-c", setting)
	}
	cmd := exec.CommandContext(ctx, "git", slices.Concat(args, call.place, call.args)...)
	cmd.Dir, cmd.Env, cmd.Stdin = call.dir, call.env, strings.NewReader(call.input)
	cmd.WaitDelay = time.Second
	if held, ok := ctx.Value(lockKey{}).(*lock); ok {
		held.holdIn(cmd)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(call.args, " "), err, clip(strings.TrimSpace(errs.String()), 1000))
	}
	return strings.TrimRight(out.String(), "\n"), nil
}

// localEnv is the environment of a git that speaks with no other repository.
func localEnv() []string {
	env := append(quietEnv(), "PATH="+safePath(), "GIT_ALLOW_PROTOCOL=none")
	for _, name := range gitNames {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// quietEnv keeps git from asking anybody, and from showing anything by a program.
func quietEnv() []string {
	return []string{"GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "GIT_EDITOR=:", "GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C"}
}

// safePath is PATH without relative folders: git starts programs in working
// copies, and must not take one from there.
func safePath() string {
	folders := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(folders, string(os.PathListSeparator))
}

// exists reports whether there is something at the path.
func exists(path string) bool {
	_, err := os.Stat(path) //nolint:gosec // it is only looked whether something is there
	return err == nil
}

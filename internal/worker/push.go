package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/fermata-hq/fermata/internal/process"
)

// pushedRef holds the commit that was pushed last.
func pushedRef(id string) string { return "refs/fermata/pushed/" + id }

// publish pushes the branch to the remote origin, where the task asks for it.
// The branch is the worker's: a commit of its own that it has taken back may be
// replaced there, and nobody else's.
func (c *workingCopy) publish(ctx context.Context, log io.Writer) error {
	if c == nil || !c.push {
		return nil
	}
	if err := c.check(ctx); err != nil {
		return err
	}
	if _, err := git(ctx, c.root, "remote", "get-url", "--push", "origin"); err != nil {
		return errors.New("the repository has no remote origin: add one (git remote add origin ADDRESS), or leave push out")
	}
	args := []string{"-c", "advice.pushUpdateRejected=false", "push", "--quiet", "--no-verify"}
	if last, err := git(ctx, c.root, "rev-parse", "--verify", "--quiet", pushedRef(c.id)); err == nil {
		args = append(args, "--force-with-lease=refs/heads/"+c.branch+":"+last)
	}
	args = append(args, "origin", "HEAD:refs/heads/"+c.branch)
	if _, err := runGit(ctx, c.root, "", pushEnv(c.root), args); err != nil {
		return fmt.Errorf("git push origin %s: %s", c.branch, withoutPassword(err.Error()))
	}
	if _, err := git(ctx, c.root, "update-ref", pushedRef(c.id), "HEAD"); err != nil {
		return err
	}
	logLine(log, "Pushed the branch %s to origin.", c.branch)
	return nil
}

// pushEnv is the environment of git where it speaks with a remote: what agents
// get as well, among it the way to the keys of ssh. Nobody is there to be asked
// for a password.
func pushEnv(dir string) []string {
	return append(process.Environ(nil),
		"GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS=false", "SSH_ASKPASS_REQUIRE=force", "LC_ALL=C",
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
}

var password = regexp.MustCompile(`://[^/@\s]+@`)

// withoutPassword leaves out what stands before the host in addresses, and the
// options of git.
func withoutPassword(text string) string {
	if _, words, ok := strings.Cut(text, "exit status "); ok {
		if _, rest, ok := strings.Cut(words, ": "); ok {
			text = rest
		}
	}
	return password.ReplaceAllString(text, "://")
}

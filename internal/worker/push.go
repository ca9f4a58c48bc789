package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata/internal/lazyregexp"
	"github.com/fermata-hq/fermata/internal/process"
)

// pushedRef returns the ref that holds the commit that was pushed last.
func pushedRef(id string) string { return "refs/fermata/pushed/" + id }

// pushingRef returns the ref that holds the commit whose push began last. If the worker is killed during the push, it
// differs from pushedRef.
func pushingRef(id string) string { return "refs/fermata/pushing/" + id }

// pushBranch pushes the branch to the remote origin, if the task asks for it. The branch belongs to the worker. So
// pushBranch may replace a commit there that the worker has taken back, but no commit of anybody else.
func (c *workingCopy) pushBranch(ctx context.Context, log io.Writer) error {
	if c == nil || !c.push {
		return nil
	}
	if err := c.checkWorktree(ctx); err != nil {
		return err
	}
	if err := c.git.prepareCommand(ctx); err != nil {
		return err
	}
	origin, err := c.git.git(ctx, "remote", "get-url", "--push", "origin")
	if err != nil {
		return errors.New("the repository has no remote origin: add one (git remote add origin ADDRESS), or leave push out")
	}
	head, err := c.head(ctx)
	if err != nil {
		return err
	}
	args := []string{"-c", "advice.pushUpdateRejected=false", "push", "--quiet", "--no-verify", "--no-recurse-submodules"}
	if last := c.lastPushedCommit(ctx, origin); last != "" {
		args = append(args, "--force-with-lease=refs/heads/"+c.branch+":"+last)
	}
	args = append(args, "origin", head+":refs/heads/"+c.branch)
	if _, err := c.runInRepo(ctx, "update-ref", pushingRef(c.id), head); err != nil {
		return err
	}
	if _, err := c.git.run(ctx, pushEnv(), "", args); err != nil {
		return fmt.Errorf("git push origin %s: %s", c.branch, stripPassword(err.Error()))
	}
	if _, err := c.runInRepo(ctx, "update-ref", pushedRef(c.id), head); err != nil {
		return err
	}
	logLine(log, "Pushed the branch %s to origin.", c.branch)
	return nil
}

// lastPushedCommit returns the commit that the worker last left at origin, or "" if it knows of none.
func (c *workingCopy) lastPushedCommit(ctx context.Context, origin string) string {
	pushed, _ := c.runInRepo(ctx, "rev-parse", "--verify", "--quiet", pushedRef(c.id))
	pushing, _ := c.runInRepo(ctx, "rev-parse", "--verify", "--quiet", pushingRef(c.id))
	if pushing == "" || pushing == pushed {
		return pushed
	}
	// The worker did not see the end of that push. If origin cannot be asked, the next push fails and gives the reason.
	remoteRefs, err := c.git.run(ctx, pushEnv(), "", []string{"ls-remote", "--quiet", origin, "refs/heads/" + c.branch})
	if commit, _, _ := strings.Cut(remoteRefs, "\t"); err == nil && commit == pushing {
		return pushing
	}
	return pushed
}

// pushEnv returns the environment of a git that connects to a remote. It is the one that agents get, with the access to
// the SSH keys. Prompts for a password are disabled, because no person is there to answer them.
func pushEnv() []string {
	env := slices.DeleteFunc(process.Environ(nil), func(entry string) bool { return strings.HasPrefix(entry, "PATH=") })
	return append(append(env, quietEnv()...), "PATH="+safePath(), "SSH_ASKPASS=false", "SSH_ASKPASS_REQUIRE=force")
}

var password = lazyregexp.New(`://[^/@\s]+@`)

// stripPassword returns the text without the credentials in addresses and without the options of git.
func stripPassword(text string) string {
	if _, words, ok := strings.Cut(text, "exit status "); ok {
		if _, rest, ok := strings.Cut(words, ": "); ok {
			text = rest
		}
	}
	return password().ReplaceAllString(text, "://")
}

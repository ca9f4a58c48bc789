package witness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
)

const (
	// gitKnownRef is the ref of the last known commit of the remote repository.
	gitKnownRef = "refs/fermata/kept"
	// gitTimeout is the time limit for one git command. A remote that hangs must not delay the next signature.
	gitTimeout = 20 * time.Second
	// gitMaxTries is how often a push is tried. A push fails if another replica pushed first.
	gitMaxTries = 5
	// gitRetryInterval is how long the witness waits after a failure before it uses the repository again.
	gitRetryInterval = 30 * time.Second
)

// Git keeps checkpoints in a remote Git repository, by way of a local clone. Each checkpoint is a commit whose
// message ends with it; no file changes. A checkpoint counts as kept only when it was pushed. Git refuses a
// repository whose history was rewritten.
type Git struct {
	clone string
	log   *slog.Logger
	// remote and branch are the target of pushes, as git names them.
	remote, branch string

	mu sync.Mutex
	// newest is the number of the newest checkpoint in the repository, by workspace. It is nil before the repository
	// was read.
	newest map[string]int64
	// lastErr is the error of the last call, or nil. lastTryAt is the time of the last call.
	lastErr   error
	lastTryAt time.Time
}

// openGit returns a witness that pushes from a clone to the upstream of its branch.
func openGit(ctx context.Context, folder string, log *slog.Logger) (*Git, error) {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	g := &Git{clone: absolute, log: log}
	if _, err := exec.LookPath("git"); err != nil {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the witness %s needs git, which is not installed here", g.Name())
	}
	head, err := g.git(ctx, "symbolic-ref", "--short", "HEAD")
	if err != nil {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the witness %s is no clone of a Git repository with a branch", g.Name()).
			WithHint("git clone ADDRESS %s", absolute)
	}
	g.remote = g.setting(ctx, "branch."+head+".remote", "origin")
	g.branch = g.setting(ctx, "branch."+head+".merge", "refs/heads/"+head)
	if g.setting(ctx, "remote."+g.remote+".url", "") == "" {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the witness %s has no repository elsewhere to push to", g.Name()).
			WithHint("clone one, or name a file: a repository on this machine alone proves no more than a file")
	}
	return g, nil
}

// setting returns a setting of the clone, or the default if it is not set.
func (g *Git) setting(ctx context.Context, name, fallback string) string {
	if value, err := g.git(ctx, "config", "--get", name); err == nil {
		return value
	}
	return fallback
}

// Name returns the address of the clone.
func (g *Git) Name() string { return gitScheme + g.clone }

// Keep pushes the checkpoint, unless the repository has it or a later one.
func (g *Git) Keep(ctx context.Context, c fermata.SignedCheckpoint) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.newest[c.Workspace] >= c.Seq {
		return nil
	}
	if g.lastErr != nil && time.Since(g.lastTryAt) < gitRetryInterval {
		return g.lastErr
	}
	g.lastErr, g.lastTryAt = g.push(ctx, c), time.Now()
	return g.lastErr
}

// push pushes a commit with the checkpoint. If another replica pushed first, it tries again.
func (g *Git) push(ctx context.Context, c fermata.SignedCheckpoint) error {
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	message := fmt.Sprintf("audit checkpoint: %s up to event %d\n\n%s\n", c.Workspace, c.Seq, line)
	for try := 1; ; try++ {
		if err := g.fetch(ctx); err != nil {
			return err
		}
		if err := g.loadNewest(ctx); err != nil || g.newest[c.Workspace] >= c.Seq {
			return err
		}
		commit, err := g.commit(ctx, message)
		if err != nil {
			return err
		}
		if _, err = g.git(ctx, "push", "--quiet", g.remote, commit+":"+g.branch); err == nil {
			g.newest[c.Workspace] = c.Seq
			_, err = g.git(ctx, "update-ref", gitKnownRef, commit)
			return err
		}
		if try == gitMaxTries {
			return err
		}
	}
}

// errUnreachable is the error for a repository that cannot be reached.
var errUnreachable = errors.New("the repository cannot be reached")

// fetch fetches the new commits. It refuses a history that does not continue from the last known commit.
func (g *Git) fetch(ctx context.Context) error {
	remoteHead, err := g.git(ctx, "ls-remote", g.remote, g.branch)
	if err != nil {
		return errors.Join(errUnreachable, err)
	}
	known, isKnown := g.knownCommit(ctx)
	if remoteHead == "" {
		if isKnown {
			return fmt.Errorf("the repository has no branch %s any more, which held the commit %s", g.branch, known)
		}
		return nil
	}
	if _, err := g.git(ctx, "fetch", "--quiet", "--no-tags", g.remote, g.branch); err != nil {
		return errors.Join(errUnreachable, err)
	}
	if isKnown {
		if _, err := g.git(ctx, "merge-base", "--is-ancestor", known, "FETCH_HEAD"); err != nil {
			return fmt.Errorf("the history of the repository was rewritten: its branch %s lacks the commit %s", g.branch, known)
		}
	}
	if _, err := g.git(ctx, "update-ref", gitKnownRef, "FETCH_HEAD"); err != nil {
		return err
	}
	if now, _ := g.knownCommit(ctx); now != known {
		g.newest = nil
	}
	return nil
}

// knownCommit returns the last known commit of the repository, and whether there is one.
func (g *Git) knownCommit(ctx context.Context) (string, bool) {
	commit, err := g.git(ctx, "rev-parse", "--quiet", "--verify", gitKnownRef)
	return commit, err == nil
}

// loadNewest reads the numbers of the newest checkpoints, unless they are known.
func (g *Git) loadNewest(ctx context.Context) error {
	if g.newest != nil {
		return nil
	}
	kept, err := g.read(ctx)
	if err == nil {
		g.newest = newestByWorkspace(kept)
	}
	return err
}

// commit makes a commit with the message and the same files as the last known commit, which becomes its parent.
func (g *Git) commit(ctx context.Context, message string) (string, error) {
	args := []string{"commit-tree", "-m", message}
	tree, err := g.git(ctx, "rev-parse", "--quiet", "--verify", gitKnownRef+"^{tree}")
	if err == nil {
		args = append(args, "-p", gitKnownRef)
	} else if tree, err = g.git(ctx, "mktree"); err != nil {
		return "", err
	}
	return g.git(ctx, append(args, tree)...)
}

// Checkpoints returns the checkpoints of the repository, the newest last. If the repository cannot be reached, it returns
// those that the clone has.
func (g *Git) Checkpoints(ctx context.Context) ([]fermata.SignedCheckpoint, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.fetch(ctx); errors.Is(err, errUnreachable) {
		g.log.WarnContext(ctx, "the repository of a witness cannot be reached; what its clone knows counts", "witness", g.Name(), "error", err)
	} else if err != nil {
		return nil, err
	}
	return g.read(ctx)
}

// read returns the checkpoints up to the last known commit.
func (g *Git) read(ctx context.Context) ([]fermata.SignedCheckpoint, error) {
	if _, ok := g.knownCommit(ctx); !ok {
		return nil, ctx.Err() // the repository has no checkpoint yet
	}
	messages, err := g.git(ctx, "log", "--reverse", "--format=%B", gitKnownRef)
	if err != nil {
		return nil, err
	}
	return Read(strings.NewReader(messages))
}

// git runs git in the clone, without hooks and without prompts.
func (g *Git) git(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", slices.Concat([]string{
		"-c", "core.hooksPath=" + os.DevNull, "-c", "user.name=Fermata", "-c", "user.email=fermata@localhost",
	}, args)...)
	cmd.Dir, cmd.WaitDelay = g.clone, time.Second
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(errs.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

package claude

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/process"
)

// Name is what tasks call this runner.
const Name = "claude"

// DefaultPermissionMode lets the agent edit the files of its working copy; what
// else it wants to do is asked.
const DefaultPermissionMode = "acceptEdits"

// Desk is the worker's side of a run: the same type as worker.Desk, which says
// what it promises.
type Desk = interface {
	Dir() string
	Log() io.Writer
	Progress(p fermata.Progress)
	Inbox() <-chan *fermata.ResumeContext
	KeepSession(s fermata.Session)
}

// Options say what is run and how.
type Options struct {
	// Program is Claude Code; empty is claude, found in PATH.
	Program string
	// Fermata is the path of the fermata program: the agent's MCP server and its hooks.
	Fermata string
	// URL is the server's address, and Token what the agent shows there; it should
	// have the scope ask only.
	URL, Token string
	// PermissionMode is one of Claude Code's; empty is [DefaultPermissionMode].
	PermissionMode string
	// ExtraArgs are further arguments of the program, such as the model. They come
	// last, so that they hold against those of the runner.
	ExtraArgs []string
	// PassEnv names variables of the worker that the agent inherits beside the usual
	// ones; SetEnv are further ones, as NAME=value.
	PassEnv, SetEnv []string
	// Grace is how long the program may take to stop; 0 means 10 s.
	Grace time.Duration
	// Patience is how long something under way may go on when a person interrupts;
	// 0 means 30 s.
	Patience time.Duration
}

// Runner runs Claude Code. It is safe for concurrent use.
type Runner struct{ opts Options }

// New returns a runner.
func New(o Options) *Runner {
	o.Program = cmp.Or(o.Program, "claude")
	o.PermissionMode = cmp.Or(o.PermissionMode, DefaultPermissionMode)
	o.Grace = cmp.Or(o.Grace, process.DefaultGrace)
	o.Patience = cmp.Or(o.Patience, 30*time.Second)
	return &Runner{o}
}

// Name returns the name by which tasks call for it.
func (r *Runner) Name() string { return Name }

// Run talks with the agent until it is done, failed, or waits for a person. A
// session that cannot be resumed is replaced by a new one, which is told what
// the old one was told.
func (r *Runner) Run(ctx context.Context, claim *fermata.Claim, desk Desk) (fermata.Finish, error) {
	if ctx.Err() != nil {
		return fermata.Finish{}, context.Cause(ctx)
	}
	p, err := newPapers(r.opts, claim)
	if err != nil {
		return fermata.Finish{}, err
	}
	defer p.remove()
	c := newConversation(r.opts, claim, desk, p)
	fin, err := c.hold(ctx)
	if ctx.Err() != nil {
		return fermata.Finish{}, context.Cause(ctx)
	}
	return fin, err
}

// maxSummary is how long the server takes summaries, in characters.
const maxSummary = 4096

func failed(format string, args ...any) fermata.Finish {
	return fermata.Finish{Result: fermata.ResultFailed, Summary: clip(strings.TrimSpace(plain(fmt.Sprintf(format, args...))), maxSummary)}
}

// plain replaces what is no UTF-8, and zero bytes.
func plain(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// clip cuts text to n characters.
func clip(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return s
}

package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/process"
)

// RunHandle is the worker's side of a run. It is the same type as worker.RunHandle, which documents its methods.
type RunHandle = interface {
	Dir() string
	Log() io.Writer
	Progress(p fermata.Progress)
	Inbox() <-chan *fermata.ResumeContext
	KeepSession(s fermata.Session)
}

// Options configure how an agent is run.
type Options struct {
	// Program is the agent program. Empty means its usual name, looked up in PATH.
	Program string
	// Fermata is the path of the fermata program. The agent asks through the MCP server of that program.
	Fermata string
	// URL is the server's address. Token is a token with the scope ask.
	URL, Token string
	// PassEnv names variables of the worker that the agent inherits. SetEnv holds further variables, as NAME=value.
	PassEnv, SetEnv []string
	// ExtraArgs are additional arguments of the program, such as the model.
	ExtraArgs []string
	// Folder is where a runner keeps files between runs, if it needs any. Empty means a folder in the user's
	// configuration.
	Folder string
	// Grace is how long the agent may take to stop. 0 means 10 s.
	Grace time.Duration
}

// Runner runs one kind of agent. It is safe for concurrent use.
type Runner struct {
	kind Kind
	opts Options
}

// New returns a runner.
func New(k Kind, o Options) *Runner {
	o.Program = cmp.Or(o.Program, k.Program)
	k.AskTool = cmp.Or(k.AskTool, askTool)
	o.Grace = cmp.Or(o.Grace, process.DefaultGrace)
	return &Runner{kind: k, opts: o}
}

// Name returns the runner's name in tasks.
func (r *Runner) Name() string { return r.kind.Name }

// Run talks with the agent until it is done, has failed, or waits for a person. If a session cannot be resumed, Run
// replaces it with a new one, and hands the history of the task to the new session.
func (r *Runner) Run(ctx context.Context, claim *fermata.Claim, handle RunHandle) (fermata.Finish, error) {
	if ctx.Err() != nil {
		return fermata.Finish{}, context.Cause(ctx)
	}
	folder, remove, err := NewRunFolder()
	if err != nil {
		return fermata.Finish{}, err
	}
	defer remove()
	if err := os.WriteFile(filepath.Join(folder, TokenFile), []byte(r.opts.Token), 0o600); err != nil {
		return fermata.Finish{}, err
	}
	c := &conversation{
		lastTurn: &Turn{Env: r.env(claim)}, r: r, handle: handle, folder: folder, prompts: prompts{claim, handle, r.opts.Fermata != "" && !r.kind.ReadsInstructions, r.kind.AskTool},
		env: r.env(claim),
	}
	if s := r.lastSession(claim); s != nil {
		c.session, c.deferredCall, c.sessionReplied = s.ID, s.Settings[deferredSetting], s.Settings[silentSetting] == ""
		if oldArgs, newArgs := s.Settings[argsSetting], r.settings()[argsSetting]; oldArgs != newArgs {
			c.logf("the session began with the arguments %q, and goes on with %q.", oldArgs, newArgs)
		}
	}
	fin, err := c.runTurns(ctx)
	if ctx.Err() != nil {
		return fermata.Finish{}, context.Cause(ctx)
	}
	return fin, err
}

// NewRunFolder creates the folder of a run. This process holds the folder until remove removes it.
func NewRunFolder() (folder string, remove func(), err error) {
	if folder, err = os.MkdirTemp("", process.RunFolderPattern); err != nil {
		return "", nil, err
	}
	release, err := process.HoldRun(folder)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(folder))
	}
	return folder, func() {
		release()
		os.RemoveAll(folder) //nolint:errcheck // the system clears what is left
	}, nil
}

// lastSession returns the session that the claim continues, or nil if there is none of this runner.
func (r *Runner) lastSession(claim *fermata.Claim) *fermata.Session {
	if claim.Context == nil || claim.Context.Session == nil || claim.Context.Session.ID == "" {
		return nil
	}
	if s := claim.Context.Session; s.Runner == "" || s.Runner == r.Name() {
		return s
	}
	return nil
}

// Settings of a session: resuming needs them, or they show how the session ran.
const (
	// argsSetting holds the program's additional arguments.
	argsSetting = "args"
	// modeSetting is the mode of the session.
	modeSetting = "permission_mode"
	// deferredSetting is the call that the session's last turn deferred.
	deferredSetting = "deferred_call"
	// silentSetting is set if the session's agent never replied: it may not have been told its task.
	silentSetting = "silent"
)

// settings returns the settings with which a session of this runner runs.
func (r *Runner) settings() map[string]string {
	s := map[string]string{argsSetting: strings.Join(r.opts.ExtraArgs, " "), modeSetting: r.mode()}
	maps.DeleteFunc(s, func(_, value string) bool { return value == "" })
	return s
}

// openCommand returns the command with which a person opens the session of the turn by hand. It includes the variables
// that the program needs to find the session.
func (r *Runner) openCommand(t *Turn, session string) string {
	if r.kind.Resume == nil {
		return ""
	}
	var words []string
	for _, name := range r.kind.SessionEnv {
		if value := t.Getenv(name); value != "" {
			words = append(words, name+"="+fermata.QuoteShellWord(value))
		}
	}
	// A person has a HOME already, so only a different one is included.
	if home := t.Getenv("HOME"); home != "" && home != os.Getenv("HOME") {
		words = append(words, "HOME="+fermata.QuoteShellWord(home))
	}
	for _, word := range slices.Concat([]string{r.opts.Program}, r.kind.Resume, []string{session}) {
		words = append(words, fermata.QuoteShellWord(word))
	}
	return strings.Join(words, " ")
}

func (r *Runner) mode() string {
	if r.kind.Mode == nil {
		return ""
	}
	return r.kind.Mode(r.opts.ExtraArgs)
}

// env returns the environment of a run. The variables about the run come last, so that no other variable can override
// them.
func (r *Runner) env(claim *fermata.Claim) []string {
	env := append(process.Environ(append(r.kind.PassEnv, r.opts.PassEnv...)), r.opts.SetEnv...)
	resumed := "0"
	if claim.Context != nil && claim.Context.Resumed {
		resumed = "1"
	}
	env = append(env, "FERMATA_TASK="+claim.Task.ID, "FERMATA_RUN="+claim.Run.ID,
		"FERMATA_ATTEMPT="+strconv.Itoa(claim.Run.Attempt), "FERMATA_RESUMED="+resumed)
	if r.opts.URL != "" {
		env = append(env, "FERMATA_URL="+r.opts.URL)
	}
	if r.opts.Token != "" {
		env = append(env, "FERMATA_TOKEN="+r.opts.Token)
	}
	return env
}

// Failure returns the result of a run that failed, with the reason as its summary.
func Failure(format string, args ...any) fermata.Finish {
	return fermata.Finish{Result: fermata.ResultFailed, Summary: fermata.Truncate(strings.TrimSpace(PlainText(fmt.Sprintf(format, args...))), maxSummary)}
}

// maxSummary is the longest summary that the server accepts, in characters.
const maxSummary = 4096

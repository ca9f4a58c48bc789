package acp

import (
	"cmp"
	"context"
	"io"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/process"
)

// Name is this runner's name in tasks.
const Name = "acp"

// DefaultWait is how long an agent that asks is kept alive for the answer.
const DefaultWait = time.Minute

// RunHandle is the worker's side of a run. It is the same type as worker.RunHandle, which documents its methods.
type RunHandle = interface {
	Dir() string
	Log() io.Writer
	Progress(p fermata.Progress)
	Inbox() <-chan *fermata.ResumeContext
	KeepSession(s fermata.Session)
}

// Asker asks people on behalf of an agent. The client of the server implements it.
type Asker interface {
	// Gate returns whether a tool call may run, or which question decides that.
	Gate(ctx context.Context, call fermata.GateCall) (*fermata.GateReply, error)
	// Ask asks a question in a task.
	Ask(ctx context.Context, taskID string, a fermata.Ask) (*fermata.Question, error)
	// WaitQuestion returns the question as soon as it is closed, or in its state at the end of the wait.
	WaitQuestion(ctx context.Context, id string, wait time.Duration) (*fermata.Question, error)
}

// Options say which agent is run and how.
type Options struct {
	agent.Options
	// Asker asks people. If it is nil, every call that needs permission is refused.
	Asker Asker
	// Wait is how long an agent that asks is kept alive for the answer. 0 means [DefaultWait], less than 0 means not at
	// all.
	Wait time.Duration
	// AllowUnknown lets the runner run a program that is not known to ask before it acts. It is for programs in a
	// sandbox, and for those that the person who starts the worker trusts.
	AllowUnknown bool
}

// Runner runs agents that speak the Agent Client Protocol. It is safe for concurrent use.
type Runner struct{ opts Options }

// New returns a runner.
func New(o Options) *Runner {
	o.Grace = cmp.Or(o.Grace, process.DefaultGrace)
	o.Wait = cmp.Or(o.Wait, DefaultWait)
	return &Runner{opts: o}
}

// Name returns the runner's name in tasks.
func (r *Runner) Name() string { return Name }

// Run talks with the agent until it is done, has failed, or waits for a person.
func (r *Runner) Run(ctx context.Context, claim *fermata.Claim, handle RunHandle) (fermata.Finish, error) {
	if ctx.Err() != nil {
		return fermata.Finish{}, context.Cause(ctx)
	}
	if r.opts.Program == "" {
		return agent.Failure("The worker has no agent program: name it behind -- of fermata worker."), nil
	}
	folder, remove, err := agent.NewRunFolder()
	if err != nil {
		return fermata.Finish{}, err
	}
	defer remove()
	c := newConversation(r, claim, handle)
	if err := c.start(ctx, folder); err != nil {
		return fermata.Finish{}, err
	}
	fin := c.runTurns(ctx)
	c.waitForEnd(ctx)
	switch {
	case ctx.Err() != nil:
		return fermata.Finish{}, context.Cause(ctx)
	case c.program.err != nil:
		return agent.Failure("The agent could not be started: %v", c.program.err), nil
	}
	fin.Session = c.sessionRecord()
	return fin, nil
}

// Settings of a session: the command of the agent, and when the session began.
const (
	commandSetting = "command"
	beganSetting   = "began"
)

// command returns the agent's command on one line.
func (r *Runner) command() string {
	return strings.Join(append([]string{r.opts.Program}, r.opts.ExtraArgs...), " ")
}

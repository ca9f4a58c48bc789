package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// agentFlags holds the flags about the agent of a worker.
type agentFlags struct {
	Runner            []string      `env:"FERMATA_RUNNER" enum:"command,acp,claude,codex,gemini,opencode" default:"command" placeholder:"NAME" help:"What drives the agent: command (any program), acp (any agent that speaks the Agent Client Protocol), claude, codex, gemini or opencode; repeat it for several. The first also runs tasks that name no runner."`
	Program           string        `placeholder:"PATH" help:"The agent program of the runner, where it is not found by its own name."`
	AllowTaskCommands bool          `help:"Also run the commands that tasks name in their spec, such as the shell steps of workflows. Whoever can make a task then runs programs here."`
	RunTimeout        time.Duration `placeholder:"DURATION" help:"Longest time of one run; waiting for people never counts. 0s, the default, sets no limit."`
	LiveWait          time.Duration `default:"1m" help:"How long an agent of the runner acp is kept alive for an answer before it is stopped and resumed later; 0s stops it at once."`
	AllowUnknownAgent bool          `help:"For the runner acp: also run a program that is not known to ask before it acts, without --isolate. No rule of gates holds such a program."`
	PassEnv           []string      `placeholder:"NAME" help:"A variable that agents inherit; repeat it."`
	Isolate           bool          `env:"FERMATA_ISOLATE" help:"Run agents in a sandbox (bubblewrap, Linux only): they write to their working copy, and see no home, no other task and nothing of the worker."`
	IsolateRead       []string      `type:"path" placeholder:"PATH" help:"A file or folder that agents can read in the sandbox; repeat it."`
	IsolateWrite      []string      `type:"path" placeholder:"PATH" help:"A file or folder that agents can write in the sandbox; repeat it."`
	IsolateOffline    bool          `help:"Take the network away in the sandbox. Gates and questions need it to reach the server."`
	AgentToken        string        `env:"FERMATA_AGENT_TOKEN" placeholder:"TOKEN" help:"Token that agents get in FERMATA_TOKEN; give it the scope ask only. @FILE reads it from a file: a command line is seen by everybody on the machine."`
	Command           []string      `arg:"" optional:"" passthrough:"" help:"The agent program and its arguments, for the runners command and acp; for the others, further arguments of their program."`
}

func (f agentFlags) options() AgentOptions {
	command := f.Command
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	if (f.Runner[0] == "command" || f.Runner[0] == "acp") && len(command) > 0 && strings.ContainsRune(command[0], filepath.Separator) {
		// Resolve the path of a program at once. In a working copy the same path may lead to another program.
		if path, err := filepath.Abs(command[0]); err == nil {
			command = append([]string{path}, command[1:]...)
		}
	}
	return AgentOptions{
		Runners: f.Runner, Program: f.Program, Command: command, AllowTaskCommands: f.AllowTaskCommands, RunTimeout: f.RunTimeout, LiveWait: f.LiveWait, AllowUnknownAgent: f.AllowUnknownAgent, PassEnv: f.PassEnv, Token: f.AgentToken,
		Isolation: IsolationOptions{On: f.Isolate, Read: f.IsolateRead, Write: f.IsolateWrite, Offline: f.IsolateOffline},
	}
}

// defaultLiveWait is the default of --live-wait.
const defaultLiveWait = time.Minute

// check refuses values with which no run could start or end, and flags that none of the runners reads.
func (f agentFlags) check() error {
	if err := f.checkFlags(); err != nil {
		return err
	}
	for _, name := range f.PassEnv {
		if strings.Contains(name, "=") {
			return fermata.Errorf(fermata.CodeInvalidRequest, "--pass-env takes the name of a variable, not %q", name).WithHint("the value is that of the worker's own environment")
		}
	}
	if err := errors.Join(checkAtLeast("--run-timeout", f.RunTimeout, 0), checkAtLeast("--live-wait", f.LiveWait, 0)); err != nil {
		return err
	}
	others := slices.ContainsFunc(f.Runner, func(name string) bool { return name != "command" })
	return checkUnreadFlags("--runner "+strings.Join(f.Runner, " and "), map[string]bool{
		"--program":             f.Program != "" && !others,
		"--live-wait":           f.LiveWait != defaultLiveWait && !slices.Contains(f.Runner, "acp"),
		"--allow-unknown-agent": f.AllowUnknownAgent && !slices.Contains(f.Runner, "acp"),
	})
}

// checkFlags refuses an unknown flag, because it would be taken for the agent program.
func (f agentFlags) checkFlags() error {
	if len(f.Command) == 0 || f.Command[0] == "--" || !strings.HasPrefix(f.Command[0], "-") {
		return nil
	}
	return fermata.Errorf(fermata.CodeInvalidRequest, "unknown flag %s", f.Command[0]).
		WithHint("--help lists the flags; arguments of the agent program stand behind --")
}

// checkAtLeast refuses a duration that is shorter than the flag allows.
func checkAtLeast(flag string, d, minimum time.Duration) error {
	if d >= minimum {
		return nil
	}
	return fermata.Errorf(fermata.CodeInvalidRequest, "%s must be at least %s, and not %s", flag, minimum, d)
}

// givenFlags returns the flags for agents on the command line. Environment variables do not count, because they may be
// meant for another command.
func (f agentFlags) givenFlags() []string {
	isUnset := func(variable string) bool { return os.Getenv(variable) == "" }
	return givenFlags(map[string]bool{
		"--runner": !slices.Equal(f.Runner, []string{"command"}) && isUnset("FERMATA_RUNNER"), "--program": f.Program != "",
		"--allow-task-commands": f.AllowTaskCommands, "--run-timeout": f.RunTimeout != 0, "--live-wait": f.LiveWait != defaultLiveWait,
		"--allow-unknown-agent": f.AllowUnknownAgent,
		"--pass-env":            len(f.PassEnv) > 0, "--isolate": f.Isolate && isUnset("FERMATA_ISOLATE"), "--isolate-read": len(f.IsolateRead) > 0,
		"--isolate-write": len(f.IsolateWrite) > 0, "--isolate-offline": f.IsolateOffline,
		"--agent-token": f.AgentToken != "" && isUnset("FERMATA_AGENT_TOKEN"), "an agent program": len(f.Command) > 0,
	})
}

type workerCommand struct {
	Name        string        `env:"FERMATA_WORKER" help:"Name of the worker (default: the host's)."`
	Project     []string      `placeholder:"NAME" help:"Only tasks of this project; repeat it."`
	Agent       []string      `placeholder:"ROLE" help:"Only tasks for this role; repeat it."`
	Concurrency quantity      `default:"1" help:"How many tasks run at the same time."`
	Lease       time.Duration `default:"60s" help:"How long a task stays with a worker that is silent: 1s to 1h."`
	Workdir     string        `type:"path" placeholder:"FOLDER" help:"The project: a git repository gives each task a worktree and a branch (default: an empty folder a task)."`
	Folder      string        `type:"path" placeholder:"FOLDER" help:"Where the worker keeps the worktrees (default: in the user's data folder)."`
	OnCompleted string        `enum:"commit,keep" default:"commit" help:"What to do with the changes of a completed run: commit or keep."`
	OnFailed    string        `enum:"rollback,keep" default:"rollback" help:"What to do with those of a failed one: rollback or keep."`
	agentFlags  `embed:""`
	Once        bool   `help:"Stop as soon as there is nothing to do."`
	LogLevel    string `env:"FERMATA_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"debug, info, warn or error."`
}

func (workerCommand) Help() string {
	return `Examples:

    fermata worker --workdir ~/src/shop -- ./agent.sh
    fermata worker --workdir ~/src/shop --runner codex --agent-token @agent.token
    fermata worker --workdir ~/src/shop --runner gemini --agent-token @agent.token -- --model gemini-2.5-pro
    fermata worker --workdir ~/src/shop --runner acp --agent-token @agent.token -- opencode acp
    fermata worker --workdir ~/src/shop --isolate -- ./agent.sh
    fermata worker --project shop --concurrency 2 --workdir . -- my-agent --fast
    fermata worker --once --on-completed keep --on-failed keep -- ./agent.sh`
}

func (c *workerCommand) Run(ctx context.Context, s *session) error {
	var err error
	if c.AgentToken, err = s.tokenFromFlag("--agent-token", c.AgentToken); err != nil {
		return err
	}
	if err = c.check(); err != nil {
		return err
	}
	if c.Lease < fermata.MinLease || c.Lease > fermata.MaxLease {
		return fermata.Errorf(fermata.CodeInvalidRequest, "--lease must be between %s and %s, and not %s", fermata.MinLease, fermata.MaxLease, c.Lease)
	}
	if s.hooks.Worker == nil {
		return notBuilt("worker")
	}
	login, _, err := s.login()
	if err != nil {
		return err
	}
	o := WorkerOptions{
		URL: login.Address(s.URL), Token: s.Token, Name: c.Name, Projects: c.Project, Agents: c.Agent,
		Concurrency: int(c.Concurrency), Lease: c.Lease, WorkDir: c.Workdir, Folder: c.Folder, AgentOptions: c.agentFlags.options(),
		OnCompleted: c.OnCompleted, OnFailed: c.OnFailed, Once: c.Once, LogLevel: c.LogLevel,
	}
	if o.Token == "" {
		o.Token = login.Token(o.URL)
	}
	if o.Name == "" {
		if o.Name, err = os.Hostname(); err != nil {
			o.Name = "worker"
		}
	}
	return s.hooks.Worker(ctx, o)
}

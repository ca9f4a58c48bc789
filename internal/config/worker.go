package config

import "time"

// Worker holds the options of `fermata worker`.
type Worker struct {
	// URL and Token are the server to claim from, after `fermata login` was considered.
	URL   string `kong:"-"`
	Token string `kong:"-"`
	Name  string `env:"FERMATA_WORKER" help:"Name of the worker (default: the host's)."`
	// Projects and Roles limit which tasks the worker claims. Empty means all.
	Projects    []string      `name:"project" placeholder:"NAME" help:"Only tasks of this project; repeat it."`
	Roles       []string      `name:"agent" placeholder:"ROLE" help:"Only tasks for this role; repeat it."`
	Concurrency int           `default:"1" help:"How many tasks run at the same time."`
	Lease       time.Duration `default:"60s" help:"How long a task stays with a worker that is silent: 1s to 1h."`
	WorkDir     string        `name:"workdir" type:"path" placeholder:"FOLDER" help:"The project: a git repository gives each task a worktree and a branch (default: an empty folder a task)."`
	Folder      string        `type:"path" placeholder:"FOLDER" help:"Where the worker keeps the worktrees (default: in the user's data folder)."`
	OnCompleted string        `enum:"commit,keep" default:"commit" help:"What to do with the changes of a completed run: commit or keep."`
	OnFailed    string        `enum:"rollback,keep" default:"rollback" help:"What to do with those of a failed one: rollback or keep."`
	Agents      Agents        `embed:""`
	Once        bool          `help:"Stop as soon as there is nothing to do."`
	LogLevel    string        `env:"FERMATA_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"debug, info, warn or error."`
}

// Agents holds the options for the agents that a worker runs.
type Agents struct {
	Runners           []string `name:"runner" env:"FERMATA_RUNNER" enum:"command,acp,claude,codex,gemini,opencode" default:"command" placeholder:"NAME" help:"What drives the agent: command (any program), acp (any agent that speaks the Agent Client Protocol), claude, codex, gemini or opencode; repeat it for several. The first also runs tasks that name no runner."`
	Program           string   `placeholder:"PATH" help:"The agent program of the runner, where it is not found by its own name."`
	AllowTaskCommands bool     `help:"Also run the commands that tasks name in their spec, such as the shell steps of workflows. Everybody who can make a task then runs programs here."`
	// RunTimeout limits the time of one run. It never limits the wait for people.
	RunTimeout time.Duration `placeholder:"DURATION" help:"Longest time of one run; waiting for people never counts. 0s, the default, sets no limit."`
	LiveWait   time.Duration `default:"1m" help:"How long an agent of the runner acp is kept alive for an answer before it is stopped and resumed later; 0s stops it at once."`
	// AllowUnknownAgent is for programs of which Fermata does not know that they ask before they act.
	AllowUnknownAgent bool      `help:"For the runner acp: also run a program that is not known to ask before it acts, without --isolate. No rule of gates holds such a program."`
	PassEnv           []string  `placeholder:"NAME" help:"A variable that agents inherit; repeat it."`
	Isolation         Isolation `embed:""`
	AgentToken        string    `name:"agent-token" env:"FERMATA_AGENT_TOKEN" placeholder:"TOKEN" help:"Token that agents get in FERMATA_TOKEN; give it the scope ask only. @FILE reads it from a file: a command line is seen by everybody on the machine."`
	// Command is the program of the runners command and acp. For other runners it holds further arguments.
	Command []string `arg:"" optional:"" passthrough:"" help:"The agent program and its arguments, for the runners command and acp; for the others, further arguments of their program."`
}

// DefaultLiveWait is the default of [Agents.LiveWait].
const DefaultLiveWait = time.Minute

// Isolation says whether agents run in a sandbox, and what they see there besides their working copies.
type Isolation struct {
	On      bool     `name:"isolate" env:"FERMATA_ISOLATE" help:"Run agents in a sandbox (bubblewrap, Linux only): they write to their working copy, and see no home, no other task and nothing of the worker."`
	Read    []string `name:"isolate-read" type:"path" placeholder:"PATH" help:"A file or folder that agents can read in the sandbox; repeat it."`
	Write   []string `name:"isolate-write" type:"path" placeholder:"PATH" help:"A file or folder that agents can write in the sandbox; repeat it."`
	Offline bool     `name:"isolate-offline" help:"Take the network away in the sandbox. Gates and questions need it to reach the server."`
}

package cli

import (
	"context"
	"os"
	"time"
)

type workerCommand struct {
	Name        string        `env:"FERMATA_WORKER" help:"Name of the worker (default: the host's)."`
	Project     []string      `placeholder:"NAME" help:"Only tasks of this project; repeat it."`
	Runner      []string      `default:"command" help:"What it drives; repeat it."`
	Agent       []string      `placeholder:"ROLE" help:"Only tasks for this role; repeat it."`
	Concurrency int           `default:"1" help:"How many tasks run at the same time."`
	Lease       time.Duration `default:"60s" help:"How long a task stays with a worker that is silent."`
	Workdir     string        `type:"path" placeholder:"FOLDER" help:"Where agents work (default: the current folder)."`
	OnCompleted string        `enum:"commit,keep" default:"keep" help:"What to do with the changes of a completed run: commit or keep."`
	OnFailed    string        `enum:"rollback,keep" default:"keep" help:"What to do with those of a failed one: rollback or keep."`
	Once        bool          `help:"Stop as soon as there is nothing to do."`
	LogLevel    string        `env:"FERMATA_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"debug, info, warn or error."`
}

func (workerCommand) Help() string {
	return `Examples:

    fermata worker --project shop --concurrency 2
    fermata worker --once --on-completed commit --on-failed rollback`
}

func (c *workerCommand) Run(ctx context.Context, s *session) error {
	if s.hooks.Worker == nil {
		return notBuilt("worker")
	}
	login, _, err := s.login()
	if err != nil {
		return err
	}
	o := WorkerOptions{
		URL: login.Address(s.URL), Token: s.Token, Name: c.Name, Projects: c.Project, Runners: c.Runner, Agents: c.Agent,
		Concurrency: c.Concurrency, Lease: c.Lease, WorkDir: c.Workdir,
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

package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/process"
	"github.com/fermata-hq/fermata/internal/worker"
)

// WorkerOptions say what a worker runs and where.
type WorkerOptions struct {
	URL, Token string
	Name       string
	Projects   []string
	Agents     []string
	// Concurrency is how many tasks run at the same time.
	Concurrency int
	Lease       time.Duration
	// RunTimeout bounds one run, never the wait for people.
	RunTimeout time.Duration
	// Folder holds the worker's own working copies; WorkDir is the project's.
	Folder, WorkDir string
	// OnCompleted is commit or keep, OnFailed rollback or keep.
	OnCompleted, OnFailed string
	// Runners names what drives agents, at least one; Program is the agent program
	// where it is not found by its own name.
	Runners []string
	Program string
	// Command is the agent program of the runner command, or further arguments of
	// another's; AllowTaskCommands lets tasks name theirs, whatever the runners are.
	Command           []string
	AllowTaskCommands bool
	// LiveWait is how long an agent of the runner acp is kept alive for an answer.
	LiveWait time.Duration
	// AllowUnknownAgent lets the runner acp run a program that is not known to ask before it acts, without a sandbox.
	AllowUnknownAgent bool
	// PassEnv names variables that agents inherit; AgentToken is the token
	// that they get.
	PassEnv    []string
	AgentToken string
	// Isolation is what agents see of the machine.
	Isolation Isolation
	// hidden are files and folders that no agent in a sandbox sees.
	hidden []string
	Once   bool
	Log    *slog.Logger
}

// RunWorker claims and runs tasks until ctx ends, then hands them back.
func RunWorker(ctx context.Context, o WorkerOptions) error {
	if err := process.Shield(); err != nil {
		return err
	}
	server, err := client.New(o.URL, o.Token, client.WithAgentToken(o.AgentToken))
	if err != nil {
		return err
	}
	if o.Name == "" {
		host, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("name the worker: %w", err)
		}
		o.Name = host
	}
	if o.Folder == "" {
		data, err := DataFolder("")
		if err != nil {
			return err
		}
		o.Folder = filepath.Join(data, "work", o.Name)
	}
	drivers, err := runners(o)
	if err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	sandbox, err := o.sandbox(ctx)
	if err != nil {
		return err
	}
	w, err := worker.New(server, worker.Options{
		Name: o.Name, Projects: o.Projects, Agents: o.Agents, Slots: o.Concurrency, Lease: o.Lease, RunTimeout: o.RunTimeout,
		Runners: drivers,
		Sandbox: sandbox,
		Once:    o.Once,
		Logger:  o.Log,
		Copies: worker.Copies{
			Folder: o.Folder, WorkDir: o.WorkDir,
			OnCompleted: worker.Policy(cmp.Or(o.OnCompleted, string(worker.Commit))),
			OnFailed:    worker.Policy(cmp.Or(o.OnFailed, string(worker.RollBack))),
		},
	})
	if err != nil {
		return err
	}
	return w.Run(ctx)
}

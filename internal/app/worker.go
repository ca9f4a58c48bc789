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
	// Runners drive the agents, as NAME or NAME=PROGRAM. The first runs tasks
	// that name no runner; none is command.
	Runners []string
	// Command is the agent program of the runner command; AllowTaskCommands lets tasks name theirs.
	Command           []string
	AllowTaskCommands bool
	// PassEnv names variables that agents inherit; AgentToken is the token
	// that they get.
	PassEnv    []string
	AgentToken string
	Once       bool
	Log        *slog.Logger
}

// RunWorker claims and runs tasks until ctx ends, then hands them back.
func RunWorker(ctx context.Context, o WorkerOptions) error {
	runners, err := newRunners(o)
	if err != nil {
		return err
	}
	server, err := client.New(o.URL, o.Token)
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
	w, err := worker.New(server, worker.Options{
		Name: o.Name, Projects: o.Projects, Agents: o.Agents, Slots: o.Concurrency, Lease: o.Lease, RunTimeout: o.RunTimeout,
		Runners: runners,
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

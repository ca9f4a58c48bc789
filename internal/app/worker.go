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

// WorkerOptions configure [RunWorker].
type WorkerOptions struct {
	URL, Token string
	Name       string
	Projects   []string
	Agents     []string
	// Concurrency is how many tasks run at the same time.
	Concurrency int
	Lease       time.Duration
	// RunTimeout limits the time of one run. It never limits the wait for people.
	RunTimeout time.Duration
	// Folder holds the worker's own working copies. WorkDir is the folder of the project.
	Folder, WorkDir string
	// OnCompleted is commit or keep. OnFailed is rollback or keep.
	OnCompleted, OnFailed string
	// Runners are the names of the runners, at least one. Program is the path of the agent program, if it is not
	// found by its own name.
	Runners []string
	Program string
	// Command is the agent program of the runner command, or further arguments for the agent program of another
	// runner. AllowTaskCommands lets tasks name their own command, whatever the runners are.
	Command           []string
	AllowTaskCommands bool
	// LiveWait is how long the runner acp keeps its agent alive while it waits for an answer.
	LiveWait time.Duration
	// AllowUnknownAgent lets the runner acp run a program without a sandbox, even if it is not known that the program
	// asks before it acts.
	AllowUnknownAgent bool
	// PassEnv are the names of environment variables that agents inherit. AgentToken is the token that agents get.
	PassEnv    []string
	AgentToken string
	// Isolation configures which parts of the machine agents can see.
	Isolation Isolation
	// hiddenPaths are files and folders that no agent in a sandbox sees.
	hiddenPaths []string
	Once        bool
	Log         *slog.Logger
}

// RunWorker claims and runs tasks until ctx ends. Then it hands its tasks back.
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
			OnCompleted: worker.CopyHandling(cmp.Or(o.OnCompleted, string(worker.Commit))),
			OnFailed:    worker.CopyHandling(cmp.Or(o.OnFailed, string(worker.RollBack))),
		},
	})
	if err != nil {
		return err
	}
	return w.Run(ctx)
}

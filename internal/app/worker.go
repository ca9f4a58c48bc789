package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/config"
	"github.com/fermata-hq/fermata/internal/process"
	"github.com/fermata-hq/fermata/internal/worker"
)

// WorkerOptions configure [RunWorker].
type WorkerOptions struct {
	config.Worker
	// hiddenPaths are files and folders that no agent in a sandbox sees.
	hiddenPaths []string
	Log         *slog.Logger
}

// RunWorker claims and runs tasks until ctx ends. Then it hands its tasks back.
func RunWorker(ctx context.Context, o WorkerOptions) error {
	if err := process.Shield(); err != nil {
		return err
	}
	server, err := client.New(o.URL, o.Token, client.WithAgentToken(o.Agents.AgentToken))
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
		Name: o.Name, Projects: o.Projects, Agents: o.Roles, Slots: o.Concurrency, Lease: o.Lease, RunTimeout: o.Agents.RunTimeout,
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

package main

import (
	"context"
	"log/slog"
	"os"

	"golang.org/x/term"

	"github.com/fermata-hq/fermata/internal/app"
	"github.com/fermata-hq/fermata/internal/cli"
	"github.com/fermata-hq/fermata/internal/workflow"
)

// hooks returns the commands that run a part of the server.
func hooks() cli.Hooks {
	return cli.Hooks{
		Version: version, Serve: serve, Worker: work, Migrate: migrate, AcceptLoss: acceptLoss, RotateKeys: rotateKeys, Demo: demo, MCP: serveMCP, CheckAgent: checkAgent,
		CheckWorkflow: checkWorkflow, SimulateWorkflow: simulateWorkflow, CheckTool: workflow.CheckTool, WorkflowSchema: workflowSchema,
	}
}

func serve(ctx context.Context, o cli.ServeOptions) error {
	log := logger(o.LogLevel, o.LogFormat)
	return app.Serve(ctx, app.ServeOptions{
		Listen: o.Listen, Data: o.Data, Database: o.Database, MasterKeyFile: o.MasterKeyFile, AuditWitnesses: o.AuditWitnesses, SecretProjects: o.SecretProjects, CheckpointEvery: o.CheckpointEvery, PublicURL: o.PublicURL, AllowNetworks: o.AllowNetworks, TrustedProxies: o.TrustedProxies, AllowToolCommands: o.AllowToolCommands, Access: app.AccessOptions(o.AccessOptions), SingleUser: o.SingleUser, NewAdminToken: o.NewAdminToken, Workers: o.Workers,
		Version: cli.Version(version), Log: log, Out: os.Stderr,
		Worker: withAgentOptions(app.WorkerOptions{WorkDir: o.WorkDir, Log: log}, o.AgentOptions),
	})
}

func work(ctx context.Context, o cli.WorkerOptions) error {
	return app.RunWorker(ctx, withAgentOptions(app.WorkerOptions{
		URL: o.URL, Token: o.Token, Name: o.Name, Projects: o.Projects, Agents: o.Agents,
		Concurrency: o.Concurrency, Lease: o.Lease, Folder: o.Folder, WorkDir: o.WorkDir,
		OnCompleted: o.OnCompleted, OnFailed: o.OnFailed, Once: o.Once, Log: logger(o.LogLevel, "text"),
	}, o.AgentOptions))
}

// withAgentOptions adds the agent options to the options of a worker.
func withAgentOptions(w app.WorkerOptions, a cli.AgentOptions) app.WorkerOptions {
	w.Runners, w.Program = a.Runners, a.Program
	w.Command, w.AllowTaskCommands, w.RunTimeout, w.LiveWait = a.Command, a.AllowTaskCommands, a.RunTimeout, a.LiveWait
	w.AllowUnknownAgent = a.AllowUnknownAgent
	w.Isolation = app.Isolation(a.Isolation)
	w.PassEnv, w.AgentToken = a.PassEnv, a.Token
	return w
}

func serveMCP(ctx context.Context, o cli.MCPOptions) error {
	return app.RunMCP(ctx, app.MCPOptions{
		URL: o.URL, Token: o.Token, Configured: o.Configured, Task: o.Task, RunID: o.RunID, Session: o.Session, OtherSession: o.OtherSession, Project: o.Project,
		AskTool: o.AskTool, Listen: o.Listen, Data: o.Data, ApproveWait: o.ApproveWait,
		Version: cli.Version(version), Log: logger(o.LogLevel, "text"), In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
	})
}

func migrate(ctx context.Context, o cli.MigrateOptions) error {
	return app.Migrate(ctx, database(o), os.Stdout)
}

func acceptLoss(ctx context.Context, o cli.AcceptLossOptions) error {
	return app.AcceptLoss(ctx, app.LossOptions{
		Database: app.Database{Data: o.Data, URL: o.Database, MasterKeyFile: o.MasterKeyFile}, Yes: o.Yes, Out: os.Stdout,
	})
}

func rotateKeys(ctx context.Context, o cli.MigrateOptions) error {
	return app.RotateKeys(ctx, database(o), os.Stdout)
}

func database(o cli.MigrateOptions) app.Database {
	return app.Database{Data: o.Data, URL: o.Database, MasterKeyFile: o.MasterKeyFile, Log: logger("info", "text")}
}

func demo(ctx context.Context, o cli.DemoOptions) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	d := app.DemoOptions{
		Answer: o.Answer, Data: o.Data, Listen: o.Listen, Program: program, Log: logger("warn", "text"), Out: os.Stdout,
	}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		d.Respond = respond
	}
	return app.Demo(ctx, d)
}

// respond lets the person at the terminal answer the demo's question.
func respond(ctx context.Context, url, token, question string) int {
	args := []string{"respond", "--url", url, "--token", token, question}
	return cli.Main(ctx, args, os.Stdin, os.Stdout, os.Stderr, cli.Hooks{Version: version})
}

// logger writes to standard error, so that standard output stays for data.
func logger(level, format string) *slog.Logger {
	var minLevel slog.Level
	// The command line accepts known levels only.
	_ = minLevel.UnmarshalText([]byte(level))
	options := &slog.HandlerOptions{Level: minLevel}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, options))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, options))
}

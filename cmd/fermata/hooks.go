package main

import (
	"context"
	"log/slog"
	"os"

	"golang.org/x/term"

	"github.com/fermata-hq/fermata/internal/app"
	"github.com/fermata-hq/fermata/internal/cli"
	"github.com/fermata-hq/fermata/internal/config"
	"github.com/fermata-hq/fermata/internal/workflow"
)

// hooks returns the commands that run a part of the server.
func hooks() cli.Hooks {
	return cli.Hooks{
		Version: version, Serve: serve, Worker: work, Migrate: migrate, AcceptLoss: acceptLoss, RotateKeys: rotateKeys, Demo: demo, MCP: serveMCP, CheckAgent: checkAgent,
		CheckWorkflow: checkWorkflow, SimulateWorkflow: simulateWorkflow, CheckTool: workflow.CheckTool, WorkflowSchema: workflowSchema,
	}
}

func serve(ctx context.Context, c config.Server) error {
	return app.Serve(ctx, app.ServeOptions{Server: c, Version: cli.Version(version), Log: logger(c.LogLevel, c.LogFormat), Out: os.Stderr})
}

func work(ctx context.Context, c config.Worker) error {
	return app.RunWorker(ctx, app.WorkerOptions{Worker: c, Log: logger(c.LogLevel, "text")})
}

func serveMCP(ctx context.Context, c config.MCP) error {
	return app.RunMCP(ctx, app.MCPOptions{
		MCP: c, Version: cli.Version(version), Log: logger(c.LogLevel, "text"), In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
	})
}

func migrate(ctx context.Context, c config.Storage) error {
	return app.Migrate(ctx, storage(c), os.Stdout)
}

func acceptLoss(ctx context.Context, c config.AcceptLoss) error {
	return app.AcceptLoss(ctx, c, os.Stdout)
}

func rotateKeys(ctx context.Context, c config.Storage) error {
	return app.RotateKeys(ctx, storage(c), os.Stdout)
}

func storage(c config.Storage) app.Storage {
	return app.Storage{Storage: c, Log: logger("info", "text")}
}

func demo(ctx context.Context, c config.Demo) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	d := app.DemoOptions{Demo: c, Program: program, Log: logger("warn", "text"), Out: os.Stdout}
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

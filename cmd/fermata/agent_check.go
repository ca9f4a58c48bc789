package main

import (
	"context"
	"os"

	"github.com/fermata-hq/fermata/internal/app"
	"github.com/fermata-hq/fermata/internal/cli"
)

// checkAgent checks an agent program, with this executable as its worker.
func checkAgent(ctx context.Context, o cli.AgentCheckOptions) ([]cli.AgentCheckResult, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	steps, err := app.CheckAgent(ctx, app.AgentCheckOptions{Agent: o.Agent, Path: o.Path, Program: program})
	results := make([]cli.AgentCheckResult, 0, len(steps))
	for _, s := range steps {
		results = append(results, cli.AgentCheckResult{Step: s.Name, Status: string(s.Status), Detail: s.Detail, Log: s.Log})
	}
	return results, err
}

package main

import (
	"context"
	"os"

	"github.com/fermata-hq/fermata/internal/app"
	"github.com/fermata-hq/fermata/internal/cli"
)

// rehearse checks an agent program, with this executable as its worker.
func rehearse(ctx context.Context, o cli.RehearseOptions) ([]cli.Rehearsed, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	steps, err := app.Rehearse(ctx, app.RehearseOptions{Agent: o.Agent, Path: o.Path, Program: program})
	rehearsed := make([]cli.Rehearsed, 0, len(steps))
	for _, s := range steps {
		rehearsed = append(rehearsed, cli.Rehearsed{Step: s.Name, Status: string(s.Status), Detail: s.Detail, Log: s.Log})
	}
	return rehearsed, err
}

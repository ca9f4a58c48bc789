package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

type pauseCommand struct {
	session.WriteFlags
	ID string `arg:"" help:"A task that a worker runs, or would run."`
}

func (pauseCommand) Help() string {
	return `The agent is stopped; its session and its working copy stay, and the line that opens them by hand is printed. Messages wait until fermata resume hands the task back.

Examples:

    fermata pause 3f9k2a
    fermata resume 3f9k2a --message "I fixed the tests by hand"`
}

func (c *pauseCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	return s.SendTaskChange(ctx, session.TaskChange{Flags: c.WriteFlags, ID: c.ID, Verb: "pause", Send: func(ctx context.Context, id string) (*fermata.Task, error) {
		t, err := server.PauseTask(ctx, id)
		if err == nil && !s.JSON {
			render.PrintTakeOver(s.Stdout(), t)
		}
		return t, err
	}})
}

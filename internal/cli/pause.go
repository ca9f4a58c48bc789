package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
)

type pauseCommand struct {
	write
	ID string `arg:"" help:"A task that a worker runs, or would run."`
}

func (pauseCommand) Help() string {
	return `The agent is stopped; its session and its working copy stay, and the line that opens them by hand is printed. Messages wait until fermata resume hands the task back.

Examples:

    fermata pause 3f9k2a
    fermata resume 3f9k2a --message "I fixed the tests by hand"`
}

func (c *pauseCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
	if err != nil {
		return err
	}
	return s.sendTaskChange(ctx, taskChange{write: c.write, id: c.ID, verb: "pause", send: func(ctx context.Context, id string) (*fermata.Task, error) {
		t, err := server.PauseTask(ctx, id)
		if err == nil && !s.JSON {
			s.stdout().printTakeOver(t)
		}
		return t, err
	}})
}

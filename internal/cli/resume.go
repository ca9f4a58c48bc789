package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
)

type resumeCommand struct {
	write
	ID      string `arg:"" help:"A task that waits, is blocked or was put off."`
	Message string `short:"m" help:"What to say to the agent; @FILE reads it."`
}

func (resumeCommand) Help() string {
	return `A question that the task waits for closes without an answer. The agent is told that nobody will answer it, decides itself, and says what it chose.

Examples:

    fermata resume 3f9k2a
    fermata resume 3f9k2a --message "Take whatever is cheapest"`
}

func (c *resumeCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
	if err != nil {
		return err
	}
	words, err := s.textOrFile("--message", c.Message)
	if err != nil {
		return err
	}
	body := map[string]string{}
	if words != "" {
		body["message"] = words
	}
	return s.sendTaskChange(ctx, taskChange{write: c.write, id: c.ID, verb: "resume", body: body, send: func(ctx context.Context, id string) (*fermata.Task, error) {
		return server.ResumeTask(ctx, id, words)
	}})
}

package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

type resumeCommand struct {
	session.WriteFlags
	ID      string `arg:"" help:"A task that waits, is blocked or was put off."`
	Message string `short:"m" help:"What to say to the agent; @FILE reads it."`
}

func (resumeCommand) Help() string {
	return `A question that the task waits for closes without an answer. The agent is told that nobody will answer it, decides itself, and says what it chose.

Examples:

    fermata resume 3f9k2a
    fermata resume 3f9k2a --message "Take whatever is cheapest"`
}

func (c *resumeCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	words, err := s.TextOrFile("--message", c.Message)
	if err != nil {
		return err
	}
	body := map[string]string{}
	if words != "" {
		body["message"] = words
	}
	return s.SendTaskChange(ctx, session.TaskChange{Flags: c.WriteFlags, ID: c.ID, Verb: "resume", Body: body, Send: func(ctx context.Context, id string) (*fermata.Task, error) {
		return server.ResumeTask(ctx, id, words)
	}})
}

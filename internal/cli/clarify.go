package cli

import (
	"context"

	"github.com/fermata-hq/fermata/internal/cli/session"
)

type clarifyCommand struct {
	session.WriteFlags
	ID   string   `arg:"" help:"The question, or the task that waits."`
	Text []string `arg:"" sep:"none" help:"What you want to know; @FILE reads it."`
}

func (clarifyCommand) Help() string {
	return `The task goes on with your message, and the question stays open. Where no worker has the task, the asker reads it: fermata ask --wait prints it, and an agent at a desk is told it.

Examples:

    fermata clarify 3f9k2a "Which of the two databases do you mean?"`
}

func (c *clarifyCommand) Run(ctx context.Context, s *session.Session) error {
	text, err := s.WordsOrFile("text", c.Text)
	if err != nil {
		return err
	}
	q, err := s.FindQuestion(ctx, c.ID)
	if err != nil {
		return err
	}
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/questions/"+q.ID+"/clarify", map[string]string{"body": text}); done {
		return err
	}
	q, err = s.Client.Clarify(ctx, q.ID, text)
	if err != nil {
		return err
	}
	s.PrintDone(q.WorkspaceID, "asked back on %s", q.ID)
	if s.JSON {
		return s.WriteJSON(q)
	}
	return nil
}

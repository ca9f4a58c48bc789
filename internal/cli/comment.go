package cli

import (
	"context"

	"github.com/fermata-hq/fermata/internal/cli/session"
)

type commentCommand struct {
	session.WriteFlags
	ID   string   `arg:"" help:"The question, or the task that waits for it."`
	Text []string `arg:"" sep:"none" help:"What you want to say; @FILE reads it."`
}

func (commentCommand) Help() string {
	return `A comment is for the people who answer: it decides nothing, and the task does
not go on with it. To ask the agent, use fermata clarify.

Examples:

    fermata comment 3f9k2a "I would wait for the release"`
}

func (c *commentCommand) Run(ctx context.Context, s *session.Session) error {
	text, err := s.WordsOrFile("text", c.Text)
	if err != nil {
		return err
	}
	q, err := s.FindQuestion(ctx, c.ID)
	if err != nil {
		return err
	}
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/questions/"+q.ID+"/comments", map[string]string{"body": text}); done {
		return err
	}
	m, err := s.Client.Comment(ctx, q.ID, text)
	if err != nil {
		return err
	}
	s.PrintDone(m.WorkspaceID, "commented on %s", q.ID)
	if s.JSON {
		return s.WriteJSON(m)
	}
	return nil
}

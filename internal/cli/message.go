package cli

import "context"

type messageCommand struct {
	write
	ID   string   `arg:"" help:"The task, or a question of it."`
	Text []string `arg:"" sep:"none" help:"What to say; @FILE reads it."`
}

func (messageCommand) Help() string {
	return `A message of a person lets a waiting task go on, and reaches a running agent. A task that has ended must be reopened for an agent to read it: fermata reopen.

Examples:

    fermata message 3f9k2a "Use the staging database for now"`
}

func (c *messageCommand) Run(ctx context.Context, s *session) error {
	text, err := s.wordsOrFile("text", c.Text)
	if err != nil {
		return err
	}
	if done, err := s.printDryRun(c.write, "POST", "/tasks/"+c.ID+"/messages", map[string]string{"body": text}); done {
		return err
	}
	id, err := s.resolveTaskID(ctx, c.ID)
	if err != nil {
		return err
	}
	m, err := s.client.PostMessage(ctx, id, text)
	if err != nil {
		return err
	}
	s.printDone(m.WorkspaceID, "wrote %s to %s", m.ID, m.TaskID)
	s.printMessageReceipt(m)
	if s.JSON {
		return s.writeJSON(m)
	}
	return nil
}

package chat

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// MessageCommand is fermata message: it writes one message into the thread of a task.
type MessageCommand struct {
	session.WriteFlags
	ID   string   `arg:"" help:"The task, or a question of it."`
	Text []string `arg:"" sep:"none" help:"What to say; @FILE reads it."`
}

// Help returns the description and the examples that --help prints.
func (MessageCommand) Help() string {
	return `A message of a person lets a waiting task go on, and reaches a running agent. A task that has ended must be reopened for an agent to read it: fermata reopen.

Examples:

    fermata message 3f9k2a "Use the staging database for now"`
}

// Run runs the command.
func (c *MessageCommand) Run(ctx context.Context, s *session.Session) error {
	text, err := s.WordsOrFile("text", c.Text)
	if err != nil {
		return err
	}
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/tasks/"+c.ID+"/messages", map[string]string{"body": text}); done {
		return err
	}
	id, err := s.ResolveTaskID(ctx, c.ID)
	if err != nil {
		return err
	}
	m, err := s.Client.PostMessage(ctx, id, text)
	if err != nil {
		return err
	}
	s.PrintDone(m.WorkspaceID, "wrote %s to %s", m.ID, m.TaskID)
	printMessageReceipt(s, m)
	if s.JSON {
		return s.WriteJSON(m)
	}
	return nil
}

// printMessageReceipt prints what happens with a new message if no agent gets it soon.
func printMessageReceipt(s *session.Session, m *fermata.Message) {
	switch m.Handoff {
	case fermata.HandoffPaused, fermata.HandoffEnded, fermata.HandoffUnread, fermata.HandoffMaker:
		s.Stderr().Line("%s", render.MessageReceiptText(m))
	default:
		// An agent or a person gets the message.
	}
}

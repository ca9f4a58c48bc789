package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

type cancelCommand struct {
	session.WriteFlags
	ID     string `arg:"" help:"A task or a question."`
	Reason string `short:"m" placeholder:"TEXT|@FILE" help:"Say why."`
}

func (cancelCommand) Help() string {
	return `The reason stays in the task's thread: an agent reads it when somebody reopens the task.

Examples:

    fermata cancel 3f9k2a -m "no longer needed"`
}

func (c *cancelCommand) Run(ctx context.Context, s *session.Session) error {
	reason, err := s.TextOrFile("--reason", c.Reason)
	if err != nil {
		return err
	}
	t, q, err := s.FindTaskOrQuestion(ctx, c.ID)
	if err != nil {
		return err
	}
	body := map[string]string{"reason": reason}
	if t != nil {
		return s.SendTaskChange(ctx, session.TaskChange{Flags: c.WriteFlags, ID: t.ID, Verb: "cancel", Body: body, Send: func(ctx context.Context, id string) (*fermata.Task, error) {
			return s.Client.CancelTask(ctx, id, reason)
		}})
	}
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/questions/"+q.ID+"/cancel", body); done {
		return err
	}
	q, err = s.Client.CancelQuestion(ctx, q.ID, reason)
	if err != nil {
		return err
	}
	s.PrintDone(q.WorkspaceID, "%s is %s", q.ID, q.Status)
	if s.JSON {
		return s.WriteJSON(q)
	}
	return nil
}

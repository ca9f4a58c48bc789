package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
)

type cancelCommand struct {
	write
	ID     string `arg:"" help:"A task or a question."`
	Reason string `short:"m" placeholder:"TEXT|@FILE" help:"Say why."`
}

func (cancelCommand) Help() string {
	return `The reason stays in the task's thread: an agent reads it when somebody reopens the task.

Examples:

    fermata cancel 3f9k2a -m "no longer needed"`
}

func (c *cancelCommand) Run(ctx context.Context, s *session) error {
	reason, err := s.textOrFile("--reason", c.Reason)
	if err != nil {
		return err
	}
	t, q, err := s.find(ctx, c.ID)
	if err != nil {
		return err
	}
	body := map[string]string{"reason": reason}
	if t != nil {
		return s.sendTaskChange(ctx, taskChange{write: c.write, id: t.ID, verb: "cancel", body: body, send: func(ctx context.Context, id string) (*fermata.Task, error) {
			return s.client.CancelTask(ctx, id, reason)
		}})
	}
	if done, err := s.printDryRun(c.write, "POST", "/questions/"+q.ID+"/cancel", body); done {
		return err
	}
	q, err = s.client.CancelQuestion(ctx, q.ID, reason)
	if err != nil {
		return err
	}
	s.printDone(q.WorkspaceID, "%s is %s", q.ID, q.Status)
	if s.JSON {
		return s.writeJSON(q)
	}
	return nil
}

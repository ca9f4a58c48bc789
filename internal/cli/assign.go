package cli

import (
	"context"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type assignCommand struct {
	session.WriteFlags
	ID   string   `arg:"" help:"The question, or the task that waits for it."`
	To   []string `arg:"" optional:"" help:"Handles, group:NAME or role:NAME; none lets anybody answer."`
	Note string   `placeholder:"TEXT|@FILE" help:"Say why; they read it in the thread."`
}

func (assignCommand) Help() string {
	return `Who may answer a question can give it to others, and so can an operator.

Examples:

    fermata assign 3f9k2a bob
    fermata assign 3f9k2a group:ops bob --note "you know this database"`
}

func (c *assignCommand) Run(ctx context.Context, s *session.Session) error {
	note, err := s.TextOrFile("--note", c.Note)
	if err != nil {
		return err
	}
	q, err := s.FindQuestion(ctx, c.ID)
	if err != nil {
		return err
	}
	a := fermata.Assignment{Assignees: c.To, Note: note}
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/questions/"+q.ID+"/assign", a); done {
		return err
	}
	if q, err = s.Client.Assign(ctx, q.ID, a); err != nil {
		return err
	}
	s.PrintDone(q.WorkspaceID, "%s is for %s", q.ID, assigneesOrAnybody(q))
	if s.JSON {
		return s.WriteJSON(q)
	}
	return nil
}

// assigneesOrAnybody returns the assignees of a question as text.
func assigneesOrAnybody(q *fermata.Question) string {
	if len(q.Assignees) == 0 {
		return "anybody who may answer"
	}
	return terminal.OneLine(strings.Join(q.Assignees, ", "))
}

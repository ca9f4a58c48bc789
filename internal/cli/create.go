package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

type createCommand struct {
	session.WriteFlags
	Title    string           `arg:"" help:"What is to be done."`
	Body     string           `placeholder:"TEXT|@FILE" help:"More about it, in Markdown."`
	Project  string           `help:"Project of the task."`
	Parent   string           `placeholder:"ID" help:"Task above it."`
	Blocked  []string         `name:"blocked-by" placeholder:"ID" help:"Tasks that must be done first."`
	Priority *int             `help:"0 (highest) to 4; default 2."`
	Size     string           `enum:",small,medium,large" default:"" placeholder:"SIZE" help:"small, medium or large."`
	Agent    string           `help:"Role it is for: code, design, review …"`
	Runner   string           `help:"What runs it; external is never claimed by a worker."`
	Isolated bool             `help:"Only a worker that isolates its agents (--isolate) takes it."`
	Label    []string         `sep:"none" help:"Label; repeat it."`
	Spec     string           `placeholder:"JSON|@FILE" help:"What the runner needs, such as a command line."`
	Defer    string           `placeholder:"WHEN" help:"Put it off: 2h, 3d, or an instant."`
	Attempts session.Quantity `name:"max-attempts" placeholder:"N" help:"How many runs may be lost before it fails."`
	Session  string           `placeholder:"KEY" help:"Of an external task: the session whose questions it holds."`
	Ends     bool             `name:"ends-with-answer" help:"Of an external task: it is done as soon as its question is answered."`
}

func (createCommand) Help() string {
	return `The id of the task is printed.

Examples:

    fermata create "Update the dependencies" --project shop --spec '{"command":["make","update"]}'
    fermata create "Write the release notes" --blocked-by 3f9k2a --body @notes.md`
}

func (c *createCommand) Run(ctx context.Context, s *session.Session) error {
	n := fermata.NewTask{
		Title: c.Title, Project: c.Project, ParentID: c.Parent, BlockedBy: c.Blocked, Priority: c.Priority,
		Size: c.Size, Agent: c.Agent, Runner: c.Runner, Isolated: c.Isolated, Labels: c.Label, MaxAttempts: int(c.Attempts), SessionKey: c.Session, EndsWithAnswer: c.Ends,
	}
	err := session.CheckNotDash("title", c.Title)
	if err != nil {
		return err
	}
	if n.Body, err = s.TextOrFile("--body", c.Body); err != nil {
		return err
	}
	if n.Spec, err = s.JSONOrText("--spec", c.Spec); err != nil {
		return err
	}
	if n.DeferUntil, err = s.ParseInstant(c.Defer); err != nil {
		return err
	}
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/tasks", n); done {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	t, err := server.CreateTask(ctx, n)
	if err != nil {
		return err
	}
	s.PrintDone(t.WorkspaceID, "made %s", t.ID)
	if s.JSON {
		return s.WriteJSON(t)
	}
	s.Stdout().Line("%s", t.ID)
	return nil
}

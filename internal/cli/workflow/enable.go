package workflow

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type enableCommand struct {
	session.WriteFlags
	Name string `arg:"" complete:"workflow" help:"Name of the workflow."`
}

func (enableCommand) Help() string {
	return `Examples:

    fermata workflow enable autofix`
}

func (c *enableCommand) Run(ctx context.Context, s *session.Session) error {
	return setEnabled(ctx, s, c.WriteFlags, c.Name, "enable", (*client.Client).EnableWorkflow)
}

type disableCommand struct {
	session.WriteFlags
	Name string `arg:"" complete:"workflow" help:"Name of the workflow."`
}

func (disableCommand) Help() string {
	return `Runs that are under way go on; cancel them with fermata workflow cancel.

Examples:

    fermata workflow disable autofix`
}

func (c *disableCommand) Run(ctx context.Context, s *session.Session) error {
	return setEnabled(ctx, s, c.WriteFlags, c.Name, "disable", (*client.Client).DisableWorkflow)
}

// setEnabled enables or disables a workflow by the given call.
func setEnabled(ctx context.Context, s *session.Session, w session.WriteFlags, name, verb string, call func(*client.Client, context.Context, string) (*fermata.Workflow, error)) error {
	if done, err := s.PrintDryRun(w, "POST", "/workflows/"+name+"/"+verb, nil); done {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	after, err := call(server, ctx, name)
	if err != nil {
		return err
	}
	s.PrintDone(after.WorkspaceID, "%s is %s", terminal.OneLine(after.Name), enabledText(after))
	if s.JSON {
		return s.WriteJSON(after)
	}
	return nil
}

type removeCommand struct {
	session.WriteFlags
	Name string `arg:"" complete:"workflow" help:"Name of the workflow."`
}

func (removeCommand) Help() string {
	return `Its runs go on, and can be looked at.

Examples:

    fermata workflow remove autofix`
}

func (c *removeCommand) Run(ctx context.Context, s *session.Session) error {
	if done, err := s.PrintDryRun(c.WriteFlags, "DELETE", "/workflows/"+c.Name, nil); done {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	if err := server.RemoveWorkflow(ctx, c.Name); err != nil {
		return err
	}
	s.PrintDone("", "removed the workflow %s", terminal.OneLine(c.Name))
	return nil
}

package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

type workflowEnableCommand struct {
	write
	Name string `arg:"" complete:"workflow" help:"Name of the workflow."`
}

func (workflowEnableCommand) Help() string {
	return `Examples:

    fermata workflow enable autofix`
}

func (c *workflowEnableCommand) Run(ctx context.Context, s *session) error {
	return s.setWorkflowEnabled(ctx, c.write, c.Name, "enable", (*client.Client).EnableWorkflow)
}

type workflowDisableCommand struct {
	write
	Name string `arg:"" complete:"workflow" help:"Name of the workflow."`
}

func (workflowDisableCommand) Help() string {
	return `Runs that are under way go on; cancel them with fermata workflow cancel.

Examples:

    fermata workflow disable autofix`
}

func (c *workflowDisableCommand) Run(ctx context.Context, s *session) error {
	return s.setWorkflowEnabled(ctx, c.write, c.Name, "disable", (*client.Client).DisableWorkflow)
}

// setWorkflowEnabled enables or disables a workflow by the given call.
func (s *session) setWorkflowEnabled(ctx context.Context, w write, name, verb string, call func(*client.Client, context.Context, string) (*fermata.Workflow, error)) error {
	if done, err := s.printDryRun(w, "POST", "/workflows/"+name+"/"+verb, nil); done {
		return err
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	after, err := call(server, ctx, name)
	if err != nil {
		return err
	}
	s.printDone(after.WorkspaceID, "%s is %s", oneLine(after.Name), enabledText(after))
	if s.JSON {
		return s.writeJSON(after)
	}
	return nil
}

type workflowRemoveCommand struct {
	write
	Name string `arg:"" complete:"workflow" help:"Name of the workflow."`
}

func (workflowRemoveCommand) Help() string {
	return `Its runs go on, and can be looked at.

Examples:

    fermata workflow remove autofix`
}

func (c *workflowRemoveCommand) Run(ctx context.Context, s *session) error {
	if done, err := s.printDryRun(c.write, "DELETE", "/workflows/"+c.Name, nil); done {
		return err
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	if err := server.RemoveWorkflow(ctx, c.Name); err != nil {
		return err
	}
	s.printDone("", "removed the workflow %s", oneLine(c.Name))
	return nil
}

package workflow

import (
	"context"

	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type toolsRefreshCommand struct {
	session.WriteFlags
	Name string `arg:"" complete:"own_tool" help:"Name of the MCP server."`
}

func (toolsRefreshCommand) Help() string {
	return `A server is asked when it is defined, and by this command. What it says is kept:
lists of tools show it, and definitions are checked against it.

Examples:

    fermata workflow tools refresh tracker`
}

func (c *toolsRefreshCommand) Run(ctx context.Context, s *session.Session) error {
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/tools/"+c.Name+"/refresh", nil); done {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	t, err := server.RefreshTools(ctx, c.Name)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.WriteJSON(t)
	}
	if why := t.Listing.Error; why != "" {
		s.PrintDone("", "%s did not list its tools: %s", terminal.OneLine(t.Name), terminal.OneLine(why))
		return session.ExitError(session.ExitFailed)
	}
	s.PrintDone("", "%s has %s", terminal.OneLine(t.Name), terminal.CountText(len(t.Listing.Tools), "tool"))
	return nil
}

package cli

import (
	"context"
)

type toolsRefreshCommand struct {
	write
	Name string `arg:"" complete:"own_tool" help:"Name of the MCP server."`
}

func (toolsRefreshCommand) Help() string {
	return `A server is asked when it is defined, and by this command. What it says is kept:
lists of tools show it, and definitions are checked against it.

Examples:

    fermata workflow tools refresh tracker`
}

func (c *toolsRefreshCommand) Run(ctx context.Context, s *session) error {
	if done, err := s.printDryRun(c.write, "POST", "/tools/"+c.Name+"/refresh", nil); done {
		return err
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	t, err := server.RefreshTools(ctx, c.Name)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.writeJSON(t)
	}
	if why := t.Listing.Error; why != "" {
		s.printDone("", "%s did not list its tools: %s", oneLine(t.Name), oneLine(why))
		return exitError(exitFailed)
	}
	s.printDone("", "%s has %s", oneLine(t.Name), countText(len(t.Listing.Tools), "tool"))
	return nil
}

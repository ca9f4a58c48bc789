package workflow

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type toolsCommand struct {
	List    toolsListCommand    `cmd:"" help:"List the tools that steps may name."`
	Show    toolsShowCommand    `cmd:"" help:"Show a tool: what it takes, what it gives."`
	Put     toolsPutCommand     `cmd:"" help:"Define the tools and MCP servers of a file."`
	Refresh toolsRefreshCommand `cmd:"" help:"Ask an MCP server for its tools."`
	Remove  toolsRemoveCommand  `cmd:"" help:"Remove a tool or an MCP server."`
}

type toolsListCommand struct {
	Defined bool `help:"Only those that the workspace has defined."`
}

func (toolsListCommand) Help() string {
	return `Examples:

    fermata workflow tools list
    fermata workflow tools list --defined`
}

func (c *toolsListCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	if c.Defined {
		return c.listDefined(ctx, s)
	}
	all, err := server.Tools(ctx)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.WriteJSON(all)
	}
	t := &terminal.Table{Columns: []terminal.Column{{Head: "NAME", Flex: true}, {Head: "KIND"}, {Head: "WHAT IT DOES", Flex: true}}}
	for _, tool := range all {
		what := tool.Description
		if tool.Error != "" {
			what = "its tools are not known: " + tool.Error
		}
		t.Add(tool.Name, tool.Kind, what)
	}
	s.PrintTable(t, "there are no tools")
	return nil
}

func (c *toolsListCommand) listDefined(ctx context.Context, s *session.Session) error {
	all, err := s.Client.NamedTools(ctx)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.WriteJSON(all)
	}
	t := &terminal.Table{Columns: []terminal.Column{{Head: "NAME"}, {Head: "KIND"}, {Head: "WHAT IT DOES", Flex: true}, {Head: "BY", Flex: true}, {Head: "AGO"}}}
	for _, tool := range all {
		t.Add(tool.Name, toolKind(tool), tool.Description, tool.UpdatedBy.Name, s.AgoText(tool.UpdatedAt))
	}
	s.PrintTable(t, "the workspace has defined no tools; fermata workflow tools put FILE does")
	return nil
}

func toolKind(t *fermata.NamedTool) string {
	switch {
	case t.Agent != nil:
		return "agent"
	case t.Server != nil:
		return "server"
	default:
		return "command"
	}
}

type toolsPutCommand struct {
	session.WriteFlags
	File string `arg:"" help:"YAML with tools and mcp_servers; - is standard input."`
}

func (toolsPutCommand) Help() string {
	return `All tools of the file are stored, or none. Tools that are not in it stay as they are.

    tools:
      analyze_issue:
        description: Finds out what an issue is about
        agent: {agent: code, prompt: "Look at issue {{ inputs.issue }} and say how you would fix it."}
        schema: {type: object, required: [confidence], properties: {confidence: {type: number}}}
        timeout: 30m
      run_checks: {command: [make, test]}
    mcp_servers:
      tracker: {url: "https://tracker.example.com/mcp", headers: {Authorization: "env:TRACKER"}}

Examples:

    fermata workflow tools put tools.yaml
    fermata workflow tools put tools.yaml --dry-run`
}

func (c *toolsPutCommand) Run(ctx context.Context, s *session.Session, local Local) error {
	source, err := readSource(s, c.File)
	if err != nil {
		return err
	}
	f := readToolsFile(source)
	if local.CheckTool != nil {
		f.check(local.CheckTool)
	}
	if len(f.problems) > 0 {
		return c.refusedFile(s, f)
	}
	all := f.definitions()
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/tools", map[string]any{"items": all}); done {
		return err
	}
	return c.send(ctx, s, f, all)
}

// send defines the tools together. If the server refuses one tool, it stores
// none.
func (c *toolsPutCommand) send(ctx context.Context, s *session.Session, f *toolsFile, all []client.NamedDefinition) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	stored, err := server.PutNamedTools(ctx, all)
	if fermata.CodeOf(err) == fermata.CodeInvalidRequest {
		f.addServerRefusals(err)
		return c.refusedFile(s, f)
	}
	if err != nil {
		return err
	}
	for _, t := range stored {
		s.PrintDone("", "defined the tool %s", terminal.OneLine(t.Name))
		if t.Listing != nil && t.Listing.Error != "" {
			s.Stderr().Line("%s %s did not list its tools: %s", s.Stderr().Yellow("warning:"), terminal.OneLine(t.Name), terminal.OneLine(t.Listing.Error))
		}
	}
	if s.JSON {
		return s.WriteJSON(stored)
	}
	return nil
}

// refusedFile prints the problems of the file.
func (c *toolsPutCommand) refusedFile(s *session.Session, f *toolsFile) error {
	printProblems(s.Stderr(), c.File, f.problems)
	s.Stderr().Line("%s: %s; nothing was stored", terminal.OneLine(c.File), terminal.CountText(len(f.problems), "problem"))
	return session.ExitError(session.ExitFailed)
}

type toolsRemoveCommand struct {
	session.WriteFlags
	Name string `arg:"" complete:"own_tool" help:"Name of the tool or of the MCP server."`
}

func (toolsRemoveCommand) Help() string {
	return `Steps that name it fail from then on.

Examples:

    fermata workflow tools remove run_checks`
}

func (c *toolsRemoveCommand) Run(ctx context.Context, s *session.Session) error {
	if done, err := s.PrintDryRun(c.WriteFlags, "DELETE", "/tools/"+c.Name, nil); done {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	if err := server.RemoveNamedTool(ctx, c.Name); err != nil {
		return err
	}
	s.PrintDone("", "removed the tool %s", terminal.OneLine(c.Name))
	return nil
}

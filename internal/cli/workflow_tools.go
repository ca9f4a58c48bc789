package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

type workflowToolsCommand struct {
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

func (c *toolsListCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
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
		return s.writeJSON(all)
	}
	t := &table{columns: []column{{head: "NAME", flex: true}, {head: "KIND"}, {head: "WHAT IT DOES", flex: true}}}
	for _, tool := range all {
		what := tool.Description
		if tool.Error != "" {
			what = "its tools are not known: " + tool.Error
		}
		t.add(tool.Name, tool.Kind, what)
	}
	s.printTable(t, "there are no tools")
	return nil
}

func (c *toolsListCommand) listDefined(ctx context.Context, s *session) error {
	all, err := s.client.NamedTools(ctx)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.writeJSON(all)
	}
	t := &table{columns: []column{{head: "NAME"}, {head: "KIND"}, {head: "WHAT IT DOES", flex: true}, {head: "BY", flex: true}, {head: "AGO"}}}
	for _, tool := range all {
		t.add(tool.Name, toolKind(tool), tool.Description, tool.UpdatedBy.Name, s.agoText(tool.UpdatedAt))
	}
	s.printTable(t, "the workspace has defined no tools; fermata workflow tools put FILE does")
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
	write
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

func (c *toolsPutCommand) Run(ctx context.Context, s *session, local workflowLocal) error {
	source, err := s.readSource(c.File)
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
	if done, err := s.printDryRun(c.write, "POST", "/tools", map[string]any{"items": all}); done {
		return err
	}
	return c.send(ctx, s, f, all)
}

// send defines the tools together. If the server refuses one tool, it stores
// none.
func (c *toolsPutCommand) send(ctx context.Context, s *session, f *toolsFile, all []client.NamedDefinition) error {
	server, err := s.server()
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
		s.printDone("", "defined the tool %s", oneLine(t.Name))
		if t.Listing != nil && t.Listing.Error != "" {
			s.stderr().line("%s %s did not list its tools: %s", s.stderr().yellow("warning:"), oneLine(t.Name), oneLine(t.Listing.Error))
		}
	}
	if s.JSON {
		return s.writeJSON(stored)
	}
	return nil
}

// refusedFile prints the problems of the file.
func (c *toolsPutCommand) refusedFile(s *session, f *toolsFile) error {
	s.stderr().printProblems(c.File, f.problems)
	s.stderr().line("%s: %s; nothing was stored", oneLine(c.File), countText(len(f.problems), "problem"))
	return exitError(exitFailed)
}

type toolsRemoveCommand struct {
	write
	Name string `arg:"" complete:"own_tool" help:"Name of the tool or of the MCP server."`
}

func (toolsRemoveCommand) Help() string {
	return `Steps that name it fail from then on.

Examples:

    fermata workflow tools remove run_checks`
}

func (c *toolsRemoveCommand) Run(ctx context.Context, s *session) error {
	if done, err := s.printDryRun(c.write, "DELETE", "/tools/"+c.Name, nil); done {
		return err
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	if err := server.RemoveNamedTool(ctx, c.Name); err != nil {
		return err
	}
	s.printDone("", "removed the tool %s", oneLine(c.Name))
	return nil
}

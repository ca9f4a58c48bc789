package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// toolsFile is a file with tools and MCP servers.
type toolsFile struct {
	tools    []locatedTool
	problems []fermata.DefinitionProblem
	lines    []string
}

// locatedTool is a tool with its place in the file.
type locatedTool struct {
	client.ToolDefinition
	name         string
	line, column int
}

// toolEntry is a tool as the file writes it.
type toolEntry struct {
	Description string   `yaml:"description"`
	Command     []string `yaml:"command"`
	Schema      any      `yaml:"schema"`
	Timeout     string   `yaml:"timeout"`
	Isolated    bool     `yaml:"isolated"`
	Agent       *struct {
		Runner string `yaml:"runner"`
		Agent  string `yaml:"agent"`
		Prompt string `yaml:"prompt"`
		Size   string `yaml:"size"`
	} `yaml:"agent"`
}

// serverEntry is an MCP server as the file writes it.
type serverEntry struct {
	Description string            `yaml:"description"`
	Command     []string          `yaml:"command"`
	Env         map[string]string `yaml:"env"`
	URL         string            `yaml:"url"`
	Headers     map[string]string `yaml:"headers"`
}

// readToolsFile reads a file, and collects all problems of its form.
func readToolsFile(source []byte) *toolsFile {
	f := &toolsFile{lines: strings.Split(string(source), "\n")}
	parsed, err := parser.ParseBytes(source, 0)
	if err != nil {
		f.addParserError(position{1, 1}, "", err)
		return f
	}
	if len(parsed.Docs) != 1 || parsed.Docs[0].Body == nil {
		f.addProblem(1, 1, "", "the file has no tools in it", "begin with tools: or mcp_servers:")
		return f
	}
	for _, section := range mappingEntries(parsed.Docs[0].Body) {
		switch name := section.Key.String(); name {
		case "tools":
			f.readEntries(section, readTool)
		case "mcp_servers":
			f.readEntries(section, readServer)
		default:
			pos := section.Key.GetToken().Position
			f.addProblem(pos.Line, pos.Column, name, fmt.Sprintf("%q is no part of such a file", name), "it has tools: and mcp_servers:")
		}
	}
	if len(f.tools) == 0 && len(f.problems) == 0 {
		f.addProblem(1, 1, "", "the file has no tools in it", "begin with tools: or mcp_servers:")
	}
	return f
}

// mappingEntries returns the entries of a mapping.
func mappingEntries(node ast.Node) []*ast.MappingValueNode {
	switch node := node.(type) {
	case *ast.MappingNode:
		return node.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{node}
	default:
		return nil
	}
}

// readEntries reads the entries of a section.
func (f *toolsFile) readEntries(section *ast.MappingValueNode, read func(ast.Node) (client.ToolDefinition, error)) {
	all := mappingEntries(section.Value)
	if len(all) == 0 {
		pos := section.Key.GetToken().Position
		f.addProblem(pos.Line, pos.Column, "", section.Key.String()+" holds no names", "write each one as a key: run_checks: {command: [make, test]}")
	}
	for _, entry := range all {
		name := strings.Trim(entry.Key.String(), `"'`)
		pos := entry.Key.GetToken().Position
		if slices.ContainsFunc(f.tools, func(t locatedTool) bool { return t.name == name }) {
			f.addProblem(pos.Line, pos.Column, name, fmt.Sprintf("the name %q stands twice", name), "tools and MCP servers share their names")
			continue
		}
		t, err := read(entry.Value)
		if err != nil {
			f.addParserError(position{pos.Line, pos.Column}, name, err)
			continue
		}
		f.tools = append(f.tools, locatedTool{t, name, pos.Line, pos.Column})
	}
}

// readTool reads a tool: a prompt for an agent, or a command.
func readTool(node ast.Node) (client.ToolDefinition, error) {
	var e toolEntry
	if err := decodeNode(node, &e); err != nil {
		return client.ToolDefinition{}, err
	}
	t := client.ToolDefinition{Description: e.Description, Command: e.Command, Timeout: e.Timeout, Isolated: e.Isolated}
	if (e.Agent == nil) == (len(e.Command) == 0) {
		return t, errors.New("give either agent or command")
	}
	if e.Agent != nil {
		t.Agent = &fermata.AgentTool{Runner: e.Agent.Runner, Agent: e.Agent.Agent, Prompt: e.Agent.Prompt, Size: e.Agent.Size}
	}
	if e.Schema != nil {
		schema, err := json.Marshal(e.Schema)
		if err != nil {
			return t, fmt.Errorf("schema is no JSON Schema: %w", err)
		}
		t.Schema = schema
	}
	return t, nil
}

// readServer reads an MCP server.
func readServer(node ast.Node) (client.ToolDefinition, error) {
	var e serverEntry
	if err := decodeNode(node, &e); err != nil {
		return client.ToolDefinition{}, err
	}
	if (e.URL == "") == (len(e.Command) == 0) {
		return client.ToolDefinition{}, errors.New("give either url or command")
	}
	return client.ToolDefinition{
		Description: e.Description, Server: &fermata.ToolServer{Command: e.Command, Env: e.Env, URL: e.URL, Headers: e.Headers},
	}, nil
}

func decodeNode(node ast.Node, into any) error {
	if node == nil || node.Type() == ast.NullType {
		return errors.New("nothing is said about it")
	}
	return yaml.NodeToValue(node, into, yaml.Strict())
}

// check adds the problems of the tools themselves.
func (f *toolsFile) check(check func(*fermata.NamedTool) error) {
	for _, t := range f.tools {
		if err := check(t.NamedTool(t.name)); err != nil {
			f.addRefusal(t, err)
		}
	}
	slices.SortStableFunc(f.problems, func(a, b fermata.DefinitionProblem) int { return a.Line - b.Line })
}

// addRefusal adds each reason why a tool was refused.
func (f *toolsFile) addRefusal(t locatedTool, err error) {
	e, ok := session.AsError(err)
	if !ok || len(e.Problems) == 0 {
		f.addProblem(t.line, t.column, t.name, t.name+": "+err.Error(), "")
		return
	}
	for _, p := range e.Problems {
		f.addFieldProblem(t, p)
	}
}

func (f *toolsFile) addFieldProblem(t locatedTool, p fermata.Problem) {
	f.addProblem(t.line, t.column, t.name, strings.TrimRight(t.name+"."+p.Field, ".")+": "+p.Message, "")
}

var itemField = lazyregexp.New(`^items\[(\d+)\]\.?(.*)$`)

// addServerRefusals adds each reason why the server refused the tools, at the place of the tool in question.
func (f *toolsFile) addServerRefusals(err error) {
	e, _ := session.AsError(err)
	if e == nil || len(e.Problems) == 0 {
		f.addProblem(1, 1, "", err.Error(), "")
		return
	}
	for _, p := range e.Problems {
		m := itemField().FindStringSubmatch(p.Field)
		if m == nil {
			f.addProblem(1, 1, "", p.Field+": "+p.Message, "")
			continue
		}
		if i, err := strconv.Atoi(m[1]); err == nil && i < len(f.tools) {
			f.addFieldProblem(f.tools[i], fermata.Problem{Field: m[2], Message: p.Message})
		}
	}
}

// definitions returns the tools in the form in which they are sent.
func (f *toolsFile) definitions() []client.NamedDefinition {
	all := make([]client.NamedDefinition, 0, len(f.tools))
	for _, t := range f.tools {
		all = append(all, client.NamedDefinition{Name: t.name, ToolDefinition: t.ToolDefinition})
	}
	return all
}

// position is a place in a file.
type position struct{ line, column int }

// addParserError adds an error of the parser, at the place that it names, or else at the given place.
func (f *toolsFile) addParserError(pos position, path string, err error) {
	message := err.Error()
	if e, ok := errors.AsType[yaml.Error](err); ok {
		message = e.GetMessage()
		if token := e.GetToken(); token != nil && token.Position != nil {
			pos = position{token.Position.Line, token.Position.Column}
		}
	}
	if path != "" {
		message = path + ": " + message
	}
	f.addProblem(pos.line, pos.column, path, message, "")
}

func (f *toolsFile) addProblem(line, column int, path, message, hint string) {
	p := fermata.DefinitionProblem{Line: line, Column: column, Path: path, Message: message, Hint: hint}
	if line >= 1 && line <= len(f.lines) {
		text := strings.TrimRight(f.lines[line-1], "\r")
		p.Excerpt = text + "\n" + strings.Repeat(" ", min(max(column-1, 0), utf8.RuneCountInString(text))) + "^"
	}
	f.problems = append(f.problems, p)
}

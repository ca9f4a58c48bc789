package cli

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/workflow"
)

const appDescription = "Fermata lets an agent stop, ask a person, and go on with the answer."

// Main runs one command line, without the name of the program, and returns the exit code.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, hooks Hooks) int {
	s := session.New(stdin, stdout, stderr, hooks.version())
	return s.Finish(ctx, runCommand(ctx, s, args, hooks))
}

// parserExit carries the exit code with which the parser stops the program.
type parserExit int

// runCommand parses and runs the command line.
func runCommand(ctx context.Context, s *session.Session, args []string, hooks Hooks) (err error) {
	defer func() {
		if r := recover(); r != nil {
			code, ok := r.(parserExit)
			if !ok {
				panic(r)
			}
			err = session.ExitError(code)
		}
	}()
	parser, flags, err := newParserOf(args, s)
	if err != nil {
		return fermata.Internal("build the command line", err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parse(parser, args)
	if parsed == nil {
		// Print the error in the format that the arguments ask for.
		s.JSON = slices.Contains(args, "--json")
		return err
	}
	s.SetGlobals(*flags)
	if err != nil {
		return err
	}
	if s.Token, err = s.TokenFromFlag("--token", s.Token); err != nil {
		return err
	}
	if slices.Contains(longRunningCommands, parsed.Selected().Name) {
		warnOfSecrets(s, args)
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	return parsed.Run(s, parser.Model, hooks, hooks.local())
}

// parse reads the arguments, and refuses arguments of which a part would be lost. It returns nil if the arguments do
// not fit the grammar.
func parse(parser *kong.Kong, args []string) (*kong.Context, error) {
	parsed, err := parser.Parse(args)
	if err != nil {
		return nil, usageError(parser.Model.Name, err)
	}
	if err := checkUTF8(args); err != nil || args[0] == "hook" {
		return parsed, err
	}
	if err := checkEmptyFlags(parsed, args); err != nil {
		return parsed, err
	}
	return parsed, checkRepeatedFlags(parsed, args)
}

// local returns the functions of the workflow commands.
func (h Hooks) local() workflow.Local {
	return workflow.Local{Check: h.CheckWorkflow, CheckTool: h.CheckTool, Schema: h.WorkflowSchema, Simulate: h.SimulateWorkflow}
}

// newParserOf returns the parser for a command line, and the values of its global flags. If the first argument names a
// command, the parser knows only that command. The grammar of all commands would take a third of the time of a short
// command.
func newParserOf(args []string, s *session.Session) (*kong.Kong, *session.Globals, error) {
	var all root
	// The completion command prints the names of all commands.
	if len(args) > 0 && args[0] != "completion" {
		if command := all.commandNamed(args[0]); command != nil {
			parser, err := newParser(&all.Globals, s, command)
			return parser, &all.Globals, err
		}
	}
	parser, err := newParser(&all, s)
	return parser, &all.Globals, err
}

func newParser(grammar any, s *session.Session, more ...kong.Option) (*kong.Kong, error) {
	return kong.New(grammar, append([]kong.Option{
		kong.Name("fermata"), kong.Description(appDescription), kong.Writers(s.Out, s.Err),
		kong.Exit(func(code int) { panic(parserExit(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 80}),
		kong.ExplicitGroups(groups), kong.Vars{"version": s.ProgramVersion},
	}, more...)...)
}

// checkUTF8 refuses arguments that are not valid UTF-8. JSON cannot carry them, so people would read text that nobody
// wrote. The arguments of serve, worker and demo may belong to other programs, so they are not checked.
func checkUTF8(args []string) error {
	if slices.Contains([]string{"serve", "worker", "demo"}, args[0]) {
		return nil
	}
	for _, arg := range args {
		if !utf8.ValidString(arg) {
			return fermata.Errorf(fermata.CodeInvalidRequest, "%q is not valid UTF-8", arg)
		}
	}
	return nil
}

// usageError returns an error about a command line, with a hint to its help.
func usageError(name string, err error) error {
	var p *kong.ParseError
	if errors.As(err, &p) && p.Context != nil && p.Context.Selected() != nil {
		name += " " + p.Context.Selected().Path()
		if selected := p.Context.Selected().FullPath(); selected != "" {
			name = selected
		}
	}
	// The error lists the values that a flag accepts. For an optional flag they include an empty one.
	text := strings.Replace(err.Error(), `must be one of "",`, "must be one of ", 1)
	return fermata.Errorf(fermata.CodeInvalidRequest, "%s", text).WithHint("%s --help shows how it is used", name)
}

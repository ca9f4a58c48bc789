package cli

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/fermata-hq/fermata/internal/cli/session"
)

// Every command refuses an empty value of a flag, and the error names the flag.
func TestNoCommandDropsAnEmptyValue(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, leaf := range commands(t) {
		for _, flag := range leaf.Flags {
			if kind := flag.Target.Kind(); kind != reflect.String && (kind != reflect.Slice || flag.Target.Type().Elem().Kind() != reflect.String) {
				continue
			}
			tried++
			args := slices.Concat(strings.Fields(leaf.FullPath())[1:], positionals(leaf), requiredFlags(leaf, flag))
			for _, empty := range [][]string{{"--" + flag.Name + "="}, {"--" + flag.Name, ""}} {
				if out := failureText(t, slices.Concat(args, empty)); !strings.Contains(out, "--"+flag.Name) {
					t.Errorf("%s %q says %q", leaf.FullPath(), empty, out)
				}
			}
		}
	}
	if tried < 50 {
		t.Errorf("only %d flags were tried", tried)
	}
}

// commands returns the commands that people type. It leaves out the hooks: programs call them, and install may write
// empty values there.
func commands(t *testing.T) []*kong.Node {
	t.Helper()
	parser, err := grammar()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(parser.Model.Leaves(false), func(leaf *kong.Node) bool { return strings.Contains(leaf.FullPath(), " hook ") })
}

// positionals returns values for the arguments of a command.
func positionals(leaf *kong.Node) (values []string) {
	for _, arg := range leaf.Positional {
		if arg.Required {
			first, _, _ := strings.Cut(arg.Enum, ",")
			values = append(values, cmp.Or(first, "1"))
		}
	}
	return values
}

// requiredFlags returns the other flags that a command needs.
func requiredFlags(leaf *kong.Node, tried *kong.Flag) (values []string) {
	for _, flag := range leaf.Flags {
		if flag.Required && flag != tried {
			values = append(values, "--"+flag.Name+"=1")
		}
	}
	return values
}

// grammar is the parser of all commands. Tests share it, because creating it takes long.
var grammar = sync.OnceValues(func() (*kong.Kong, error) { return newParser(&root{}, &session.Session{}) })

// grammarMutex lets only one test at a time use the grammar, because it holds the last parsed arguments.
var grammarMutex sync.Mutex

// failureText runs a command that must fail before it reaches a server, and returns its error.
func failureText(t *testing.T, args []string) string {
	t.Helper()
	if err := parseError(t, args); err != nil {
		return err.Error()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs strings.Builder
	if code := Main(ctx, args, strings.NewReader(""), &out, &errs, Hooks{}); code == 0 {
		return "success: " + out.String()
	}
	return errs.String()
}

// parseError returns the error of the arguments before the command runs.
func parseError(t *testing.T, args []string) error {
	t.Helper()
	parser, err := grammar()
	if err != nil {
		t.Fatal(err)
	}
	grammarMutex.Lock()
	defer grammarMutex.Unlock()
	_, err = parse(parser, args)
	return err
}

package cli

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/fermata-hq/fermata/internal/cli/render/rendertest"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// cliPage is the documentation page of all commands.
const cliPage = "../../docs/reference/cli.md"

// updateCLIPage is the command that writes the page.
const updateCLIPage = "go test ./internal/cli -run TestCLIPage -update"

// TestCLIPage checks that the documentation page agrees with the grammar of the command line.
func TestCLIPage(t *testing.T) {
	t.Parallel()
	parser, err := newParser(&root{}, session.New(strings.NewReader(""), nil, nil, "1.2.3"))
	if err != nil {
		t.Fatal(err)
	}
	want := cliReference(parser.Model)
	if *rendertest.Update {
		if err := os.WriteFile(cliPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(cliPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("docs/reference/cli.md is old: %s", updateCLIPage)
	}
}

// cliHead begins the page. The list of exit codes repeats the constants of exit.go.
const cliHead = `# Commands

<!-- Generated from internal/cli. Do not edit this page; run: ` + updateCLIPage + ` -->

This page lists every command with its arguments, flags and examples. It is generated from the program, so
` + "`fermata COMMAND --help`" + ` prints the same.

- Data goes to standard output, messages go to standard error.
- An id may be its last six characters or more. Where a command takes a task, a question of the task will do.
- An argument or a flag with ` + "`@FILE`" + ` reads a file, ` + "`@-`" + ` reads standard input, and ` + "`@@`" + ` begins a text with ` + "`@`" + `.

## Exit codes

| code | meaning |
| --- | --- |
`

// exitCodeMeanings are the rows of the table of exit codes.
var exitCodeMeanings = []struct {
	code    int
	meaning string
}{
	{session.ExitOK, "answered or approved; the command did its work"},
	{session.ExitFailed, "failed, or the state of the task does not allow it"},
	{session.ExitUsage, "wrong command line or request"},
	{session.ExitRejected, "rejected; a question of yes or no was answered no; `gate test`: denied"},
	{session.ExitNotAllowed, "not signed in, or not allowed"},
	{session.ExitNotFound, "not found"},
	{session.ExitClosed, "the question is closed, or its task has ended"},
	{session.ExitTimedOut, "timed out; a default is printed"},
	{session.ExitPending, "still pending; `gate test`: asked"},
	{session.ExitCancelled, "cancelled"},
	{session.ExitInterrupted, "interrupted"},
}

// cliReference returns the page of all commands.
func cliReference(app *kong.Application) string {
	var page strings.Builder
	page.WriteString(cliHead)
	for _, row := range exitCodeMeanings {
		fmt.Fprintf(&page, "| %d | %s |\n", row.code, row.meaning)
	}
	page.WriteString("\nWith `--json` an error is one line of JSON on standard error, with its `exit_code`.\n\n## Flags of every command\n\n")
	writeFlagTable(&page, app.Flags)
	for _, group := range groups {
		fmt.Fprintf(&page, "\n## %s\n", group.Title)
		for _, command := range app.Children {
			if command.Group != nil && command.Group.Key == group.Key {
				writeCommand(&page, app, command)
			}
		}
	}
	return page.String()
}

// writeCommand writes the section of a command, and those of the commands below it.
func writeCommand(page *strings.Builder, app *kong.Application, command *kong.Node) {
	if command.Hidden {
		return
	}
	detail, examples, _ := strings.Cut(command.Detail, "Examples:\n\n")
	if command.Leaf() || command.Detail != "" {
		fmt.Fprintf(page, "\n### %s\n\n%s\n", command.FullPath(), escapeMarkdown(command.Help))
		if command.Leaf() {
			fmt.Fprintf(page, "\n```text\n%s %s\n```\n", app.Name, command.Summary())
		}
		if detail = strings.TrimSpace(detail); detail != "" {
			fmt.Fprintf(page, "\n%s\n", escapeMarkdown(detail))
		}
		writeArgumentTable(page, command.Positional)
		writeFlags(page, app, command)
		if examples != "" {
			fmt.Fprintf(page, "\n<!-- not run: the ids and files are made up -->\n```sh no-run\n%s\n```\n", strings.ReplaceAll(strings.TrimSpace(examples), "\n    ", "\n"))
		}
	}
	for _, child := range command.Children {
		writeCommand(page, app, child)
	}
}

func writeArgumentTable(page *strings.Builder, arguments []*kong.Positional) {
	if len(arguments) == 0 {
		return
	}
	page.WriteString("\n| argument | meaning |\n| --- | --- |\n")
	for _, argument := range arguments {
		fmt.Fprintf(page, "| `%s` | %s |\n", escapeCell(argument.Summary()), describe(argument))
	}
}

// writeFlags writes the flags that a command has beside those of every command.
func writeFlags(page *strings.Builder, app *kong.Application, command *kong.Node) {
	var own []*kong.Flag
	for node := command; command.Leaf() && node != app.Node; node = node.Parent {
		own = append(own, node.Flags...)
	}
	if len(own) > 0 {
		page.WriteString("\n")
		writeFlagTable(page, own)
	}
}

func writeFlagTable(page *strings.Builder, flags []*kong.Flag) {
	page.WriteString("| flag | meaning |\n| --- | --- |\n")
	for _, flag := range flags {
		if flag.Hidden {
			continue
		}
		name := "--" + flag.Name
		if flag.Short != 0 {
			name = fmt.Sprintf("-%c, %s", flag.Short, name)
		}
		if !flag.IsBool() && !flag.IsCounter() {
			name += "=" + flag.FormatPlaceHolder()
		}
		fmt.Fprintf(page, "| `%s` | %s |\n", escapeCell(name), describe(flag.Value))
	}
}

// describe returns the help of an argument or a flag, with the variables that set it, as a cell of a table.
func describe(v *kong.Value) string {
	return escapeCell(escapeMarkdown(cmp.Or(kong.DefaultHelpValueFormatter(v), v.Name)))
}

func escapeCell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// escapeMarkdown makes Markdown show a text as it is. Indented lines are code, and need no escape.
func escapeMarkdown(text string) string {
	escape := strings.NewReplacer("*", `\*`, "<", `\<`)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "    ") {
			lines[i] = escape.Replace(line)
		}
	}
	return strings.Join(lines, "\n")
}

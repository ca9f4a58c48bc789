package workflow

import (
	"context"
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type validateCommand struct {
	Files     []string `arg:"" name:"file" help:"Definitions; - is standard input."`
	Workspace bool     `help:"Ask the server, which knows the tools of the workspace. Without it, a tool that is not built in is a warning."`
}

func (validateCommand) Help() string {
	return `Needs no server. Every problem is printed as file:line:column: message, with the line and what to do. The exit code is 1 when one of them is no warning.

Examples:

    fermata workflow validate autofix.yaml
    fermata workflow validate workflows/*.yaml
    fermata workflow validate --workspace autofix.yaml
    fermata workflow validate autofix.yaml --json | jq '.[].problems'`
}

// checkedFile is a file with its problems.
type checkedFile struct {
	File string `json:"file"`
	fermata.WorkflowCheck
}

func (c *validateCommand) Run(ctx context.Context, s *session.Session, local Local) error {
	var files []checkedFile
	valid := true
	for _, name := range c.Files {
		source, err := readSource(s, name)
		if err != nil {
			return err
		}
		check, err := c.check(ctx, s, local, source)
		if err != nil {
			return err
		}
		files = append(files, checkedFile{name, *check})
		valid = valid && check.Valid
	}
	if s.JSON {
		if err := s.WriteJSON(files); err != nil {
			return err
		}
	} else {
		for _, f := range files {
			printProblems(s.Stdout(), f.File, f.Problems)
			s.Stderr().Line("%s: %s", terminal.OneLine(f.File), checkSummary(&f.WorkflowCheck))
		}
	}
	if !valid {
		return session.ExitError(session.ExitFailed)
	}
	return nil
}

func (c *validateCommand) check(ctx context.Context, s *session.Session, local Local, source []byte) (*fermata.WorkflowCheck, error) {
	if !c.Workspace {
		return local.checkSource(source)
	}
	server, err := s.Server()
	if err != nil {
		return nil, err
	}
	return server.CheckWorkflow(ctx, string(source))
}

// checkSummary returns the result of a check in one sentence.
func checkSummary(c *fermata.WorkflowCheck) string {
	errors, warnings := 0, 0
	for _, p := range c.Problems {
		if p.Warning {
			warnings++
		} else {
			errors++
		}
	}
	parts := []string{"the workflow " + terminal.OneLine(c.Name) + " is valid"}
	if !c.Valid {
		parts[0] = terminal.CountText(errors, "problem")
	}
	if warnings > 0 {
		parts = append(parts, terminal.CountText(warnings, "warning"))
	}
	return strings.Join(parts, ", ")
}

// printProblems writes the problems of a file: the place, the line with a caret, and
// a hint.
func printProblems(p terminal.Printer, file string, list []fermata.DefinitionProblem) {
	for _, problem := range list {
		position := fmt.Sprintf("%s:%d:%d:", terminal.OneLine(file), problem.Line, problem.Column)
		message := p.Red(terminal.OneLine(problem.Message))
		if problem.Warning {
			message = p.Yellow("warning: ") + terminal.OneLine(problem.Message)
		}
		p.Line("%s %s", p.Bold(position), message)
		for line := range strings.SplitSeq(strings.TrimRight(problem.Excerpt, "\n"), "\n") {
			if line != "" {
				p.Line("  %s", terminal.Clean(line))
			}
		}
		if problem.Hint != "" {
			p.Line("  hint: %s", terminal.OneLine(problem.Hint))
		}
	}
}

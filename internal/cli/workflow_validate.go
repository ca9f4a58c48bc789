package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

type workflowValidateCommand struct {
	Files     []string `arg:"" name:"file" help:"Definitions; - is standard input."`
	Workspace bool     `help:"Ask the server, which knows the tools of the workspace. Without it, a tool that is not built in is a warning."`
}

func (workflowValidateCommand) Help() string {
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
	client.WorkflowCheck
}

func (c *workflowValidateCommand) Run(ctx context.Context, s *session, local workflowLocal) error {
	var files []checkedFile
	valid := true
	for _, name := range c.Files {
		source, err := s.readSource(name)
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
		if err := s.writeJSON(files); err != nil {
			return err
		}
	} else {
		for _, f := range files {
			s.stdout().printProblems(f.File, f.Problems)
			s.stderr().line("%s: %s", oneLine(f.File), checkSummary(&f.WorkflowCheck))
		}
	}
	if !valid {
		return exitError(exitFailed)
	}
	return nil
}

func (c *workflowValidateCommand) check(ctx context.Context, s *session, local workflowLocal, source []byte) (*client.WorkflowCheck, error) {
	if !c.Workspace {
		return local.checkSource(source)
	}
	server, err := s.server()
	if err != nil {
		return nil, err
	}
	return server.CheckWorkflow(ctx, string(source))
}

// checkSummary returns the result of a check in one sentence.
func checkSummary(c *client.WorkflowCheck) string {
	errors, warnings := 0, 0
	for _, p := range c.Problems {
		if p.Warning {
			warnings++
		} else {
			errors++
		}
	}
	parts := []string{"the workflow " + oneLine(c.Name) + " is valid"}
	if !c.Valid {
		parts[0] = countText(errors, "problem")
	}
	if warnings > 0 {
		parts = append(parts, countText(warnings, "warning"))
	}
	return strings.Join(parts, ", ")
}

// countText returns the number with the noun, in the singular for one.
func countText[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// printProblems writes the problems of a file: the place, the line with a caret, and
// a hint.
func (p printer) printProblems(file string, list []fermata.DefinitionProblem) {
	for _, problem := range list {
		position := fmt.Sprintf("%s:%d:%d:", oneLine(file), problem.Line, problem.Column)
		message := p.red(oneLine(problem.Message))
		if problem.Warning {
			message = p.yellow("warning: ") + oneLine(problem.Message)
		}
		p.line("%s %s", p.bold(position), message)
		for line := range strings.SplitSeq(strings.TrimRight(problem.Excerpt, "\n"), "\n") {
			if line != "" {
				p.line("  %s", clean(line))
			}
		}
		if problem.Hint != "" {
			p.line("  hint: %s", oneLine(problem.Hint))
		}
	}
}

package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// SimulationInput is a definition to simulate with scripted answers.
type SimulationInput struct {
	Source, Answers []byte
}

// SimulationReport is the result of a simulation.
type SimulationReport struct {
	Workflow string `json:"workflow"`
	// Passed reports whether every expectation was met.
	Passed   bool                        `json:"passed"`
	Problems []fermata.DefinitionProblem `json:"problems,omitempty"`
	Run      *fermata.WorkflowRun        `json:"run,omitempty"`
	// Failures are the expectations that were not met.
	Failures []string `json:"failures,omitempty"`
	// End is the time of the simulated clock at the end of the run.
	End time.Time `json:"end,omitzero"`
	// Script holds the generated answers of tools and people, if none were
	// given.
	Script string `json:"script,omitempty"`
}

type workflowTestCommand struct {
	File    string `arg:"" help:"The definition."`
	Answers string `type:"path" placeholder:"FILE" help:"YAML with the answers, what tools reply, and what is expected. Without it, the test makes them up and prints them."`
	Save    string `type:"path" placeholder:"FILE" help:"Without --answers: write what the test made up to a new file, and do not print it."`
	Plain   bool   `help:"Plain letters instead of symbols."`
}

func (workflowTestCommand) Help() string {
	return `Needs no server: people and tools are played by the answers, and the clock goes on by itself, so that a day of waiting takes no time. Each step is reported; the exit code is 1 when something expected did not come to be.

Without --answers, the test makes them up: each question gets its default or its first option, each tool a value of its output schema. It prints them as a file. Save the file, and change it to what you mean.

Examples:

    fermata workflow test autofix.yaml --save autofix.answers.yaml
    fermata workflow test autofix.yaml --answers autofix.answers.yaml
    fermata workflow test autofix.yaml --answers late.yaml --json | jq .failures`
}

func (c *workflowTestCommand) Run(ctx context.Context, s *session, local workflowLocal) error {
	source, err := s.readSource(c.File)
	if err != nil {
		return err
	}
	if c.Answers != "" && c.Save != "" {
		return fermata.Errorf(fermata.CodeInvalidRequest, "--save is for answers that are made up, and --answers gives some").WithHint("leave one of the two out")
	}
	var answers []byte
	if c.Answers != "" {
		if answers, err = s.readFile("--answers", c.Answers, maxFileSize); err != nil {
			return err
		}
	}
	if local.Simulate == nil {
		return notBuilt("workflow test")
	}
	report, err := local.Simulate(ctx, SimulationInput{Source: source, Answers: answers})
	if err != nil {
		return err
	}
	if c.Save != "" && report.Script != "" {
		if err := c.save(s, report); err != nil {
			return err
		}
	}
	if s.JSON {
		err = s.writeJSON(report)
	} else {
		c.print(s, report)
	}
	if err == nil && !report.Passed {
		err = exitError(exitFailed)
	}
	return err
}

// save writes the generated answers of the test to a new file.
func (c *workflowTestCommand) save(s *session, report *SimulationReport) error {
	_, err := writeNewFile(c.Save, func(w io.Writer) (int64, error) { return io.Copy(w, strings.NewReader(report.Script)) })
	if err != nil {
		return err
	}
	s.stderr().line("wrote what was made up to %s: change it to what you mean, and give it with --answers", clean(c.Save))
	return nil
}

// print writes the steps as a run shows them, and the expectations that were
// not met.
func (c *workflowTestCommand) print(s *session, report *SimulationReport) {
	s.stdout().printProblems(c.File, report.Problems)
	if report.Run != nil {
		// Use the end time of the simulated run. The run itself does not exist
		// on a server.
		s.now = func() time.Time { return report.End }
		run := *report.Run
		run.ID, run.CanRetry = "", false
		v := &runView{s: s, marks: s.marks(c.Plain), run: &run}
		for _, line := range s.drawingLines(v) {
			s.stdout().line("%s", line)
		}
	}
	p := s.stdout()
	if report.Script != "" && c.Save == "" {
		p.line("made up; --save FILE writes it to a file, to change and to give with --answers:")
		p.printBarred(clean(report.Script))
	}
	for _, failure := range report.Failures {
		p.line("%s  %s", p.red("FAIL"), oneLine(failure))
	}
	if report.Passed {
		p.line("%s  %s", p.green("ok  "), oneLine(report.Workflow))
	} else if len(report.Failures) == 0 {
		p.line("%s  %s", p.red("FAIL"), fmt.Sprintf("%s did not run", oneLine(c.File)))
	}
}

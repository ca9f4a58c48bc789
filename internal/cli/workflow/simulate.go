package workflow

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/drawing"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// SimulationInput is a definition to simulate with scripted answers.
type SimulationInput struct {
	// Source is the YAML of the definition. Answers is the YAML of the answers; if it is empty, the simulation makes
	// answers up.
	Source, Answers []byte
}

type testCommand struct {
	File    string `arg:"" help:"The definition."`
	Answers string `type:"path" placeholder:"FILE" help:"YAML with the answers, what tools reply, and what is expected. Without it, the test makes them up and prints them."`
	Save    string `type:"path" placeholder:"FILE" help:"Without --answers: write what the test made up to a new file, and do not print it."`
	Plain   bool   `help:"Plain letters instead of symbols."`
}

func (testCommand) Help() string {
	return `Needs no server: people and tools are played by the answers, and the clock goes on by itself, so that a day of waiting takes no time. Each step is reported; the exit code is 1 when something expected did not come to be.

Without --answers, the test makes them up: each question gets its default or its first option, each tool a value of its output schema. It prints them as a file. Save the file, and change it to what you mean.

Examples:

    fermata workflow test autofix.yaml --save autofix.answers.yaml
    fermata workflow test autofix.yaml --answers autofix.answers.yaml
    fermata workflow test autofix.yaml --answers late.yaml --json | jq .failures`
}

func (c *testCommand) Run(ctx context.Context, s *session.Session, local Local) error {
	source, err := readSource(s, c.File)
	if err != nil {
		return err
	}
	if c.Answers != "" && c.Save != "" {
		return fermata.Errorf(fermata.CodeInvalidRequest, "--save is for answers that are made up, and --answers gives some").WithHint("leave one of the two out")
	}
	var answers []byte
	if c.Answers != "" {
		if answers, err = s.ReadFile("--answers", c.Answers, session.MaxFileSize); err != nil {
			return err
		}
	}
	if local.Simulate == nil {
		return session.NotBuiltError("workflow test")
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
		err = s.WriteJSON(report)
	} else {
		c.print(s, report)
	}
	if err == nil && !report.Passed {
		err = session.ExitError(session.ExitFailed)
	}
	return err
}

// save writes the generated answers of the test to a new file.
func (c *testCommand) save(s *session.Session, report *fermata.TestReport) error {
	_, err := session.WriteNewFile(c.Save, func(w io.Writer) (int64, error) { return io.Copy(w, strings.NewReader(report.Script)) })
	if err != nil {
		return err
	}
	s.Stderr().Line("wrote what was made up to %s: change it to what you mean, and give it with --answers", terminal.Clean(c.Save))
	return nil
}

// print writes the steps as a run shows them, and the expectations that were
// not met.
func (c *testCommand) print(s *session.Session, report *fermata.TestReport) {
	printProblems(s.Stdout(), c.File, report.Problems)
	if report.Run != nil {
		// Use the end time of the simulated run. The run itself does not exist
		// on a server.
		s.Now = func() time.Time { return report.End }
		run := *report.Run
		run.ID, run.CanRetry = "", false
		v := &runView{s: s, marks: drawing.ChooseMarks(&s.Console, c.Plain), run: &run}
		for _, line := range drawing.Lines(s, v) {
			s.Stdout().Line("%s", line)
		}
	}
	p := s.Stdout()
	if report.Script != "" && c.Save == "" {
		p.Line("made up; --save FILE writes it to a file, to change and to give with --answers:")
		p.PrintBarred(terminal.Clean(report.Script))
	}
	for _, warning := range report.Warnings {
		p.Line("%s  %s", p.Yellow("warn"), terminal.OneLine(warning))
	}
	for _, failure := range report.Failures {
		p.Line("%s  %s", p.Red("FAIL"), terminal.OneLine(failure))
	}
	if report.Passed {
		p.Line("%s  %s", p.Green("ok  "), terminal.OneLine(report.Workflow))
	} else if len(report.Failures) == 0 {
		p.Line("%s  %s", p.Red("FAIL"), fmt.Sprintf("%s did not run", terminal.OneLine(c.File)))
	}
}

package workflow

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/strictjson"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
	"github.com/fermata-hq/fermata/internal/workflow/definition/expression"
)

// Script describes a simulation of a workflow: its trigger, the replies of tools and people, and the expected result.
type Script struct {
	// Now is the time at which the run starts, as RFC 3339. If it is empty, the run starts at the current time.
	Now    string         `yaml:"now"`
	Inputs map[string]any `yaml:"inputs"`
	// Policy holds the settings that differ from the default policy of a workspace.
	Policy  map[string]any `yaml:"policy"`
	Trigger map[string]any `yaml:"trigger"`
	// Tools are the outcomes of tool calls, by the id of a step or the name of a tool.
	Tools map[string]Outcomes `yaml:"tools"`
	// Answers are the replies of people, by the id of the step that asks.
	Answers map[string]Replies `yaml:"answers"`
	Expect  Expectation        `yaml:"expect"`
	// isGuessed says that there is no script, so the replies of tools and people are made up.
	isGuessed bool
}

// readScript parses a script. If the source is empty, all replies are made up.
func readScript(source []byte) (Script, error) {
	if len(bytes.TrimSpace(source)) == 0 {
		return Script{isGuessed: true, Expect: Expectation{State: fermata.TaskDone}}, nil
	}
	var sc Script
	if problems := definition.CheckYAML(source); len(problems) > 0 {
		return sc, fermata.Errorf(fermata.CodeInvalidRequest, "the script: %s", problems[0]).WithHint("docs/reference/workflow-runs.md says what it may hold")
	}
	if err := yaml.UnmarshalWithOptions(source, &sc, yaml.Strict()); err != nil {
		return sc, explainScriptError(err)
	}
	// YAML has numbers, such as .nan, that JSON cannot write.
	if _, err := json.Marshal(sc); err != nil {
		return sc, fermata.Errorf(fermata.CodeInvalidRequest, "the script holds a value that JSON cannot write: %s", err)
	}
	sc.Expect.State = cmp.Or(sc.Expect.State, fermata.TaskDone)
	return sc, nil
}

// Outcome is the result of one call of a tool. The call fails if there is an error, or an exit code that is not 0.
type Outcome struct {
	// Output is the output of the tool. A text is what a command prints, or the last message of an agent.
	Output any            `yaml:"output"`
	Error  *ScriptedError `yaml:"error"`
	// ExitCode, Stdout and Stderr describe a command. If it fails, they may also stand in the error.
	ExitCode *int   `yaml:"exit_code"`
	Stdout   string `yaml:"stdout"`
	Stderr   string `yaml:"stderr"`
	// places says where the fields stand that are given.
	places map[string]place
}

// hasFailed reports whether the call fails.
func (o *Outcome) hasFailed() bool { return o.Error != nil || o.ExitCode != nil && *o.ExitCode != 0 }

// ScriptedError is the error of a failed step, with the fields that expressions read. In a script, a text alone is the
// message.
type ScriptedError struct {
	Code     string `yaml:"code"`
	Message  string `yaml:"message"`
	ExitCode *int   `yaml:"exit_code"`
	Stdout   string `yaml:"stdout"`
	Stderr   string `yaml:"stderr"`
}

// err returns the failure of an outcome, or nil for a success. A failure without a code gets the given one.
func (o *Outcome) err(defaultCode string) error {
	text, _ := o.Output.(string)
	given := ScriptedError{ExitCode: o.ExitCode, Stdout: cmp.Or(o.Stdout, text), Stderr: o.Stderr}
	if o.Error != nil {
		given.Code, given.Message = o.Error.Code, o.Error.Message
		given.ExitCode = cmp.Or(o.Error.ExitCode, given.ExitCode)
		given.Stdout, given.Stderr = cmp.Or(o.Error.Stdout, given.Stdout), cmp.Or(o.Error.Stderr, given.Stderr)
	}
	if !o.hasFailed() {
		return nil
	}
	hasFailed := given.ExitCode != nil && *given.ExitCode != 0
	if given.Message == "" && hasFailed {
		end := fmt.Sprintf("exit status %d", *given.ExitCode)
		given.Message = agent.ProgramFailureText(end, agent.LastLines(given.Stdout), agent.LastLines(given.Stderr))
	}
	code := cmp.Or(given.Code, defaultCode)
	failure := &stepError{code: code, err: errors.New(cmp.Or(given.Message, code)), permanent: slices.Contains(permanentCodes, code)}
	if hasFailed || given.Stdout != "" || given.Stderr != "" {
		failure.output = &commandOutput{given.ExitCode, given.Stdout, given.Stderr}
	}
	return failure
}

// permanentCodes are the codes of failures that another attempt does not change.
var permanentCodes = []string{codeCondition, codeInput, codeTooLarge, codeNoTool}

// Outcomes are the outcomes of successive calls. The last one repeats.
type Outcomes []Outcome

// Reply is the answer of a person, or says that nobody answers before the deadline.
type Reply struct {
	Answer  any            `yaml:"answer"`
	Answers map[string]any `yaml:"answers"`
	Comment string         `yaml:"comment"`
	// Action is an edited action, which the person approves instead of the one that the question shows.
	Action exactJSON `yaml:"action"`
	// Timeout advances the clock to the deadline of the question.
	Timeout bool `yaml:"timeout"`
	// isPlain says that the answer is written as a value that is neither an object nor a list.
	isPlain bool
}

// Replies are the replies to successive questions of a step. The last one repeats. A list of plain values may also be one
// answer, to a question that takes a list.
type Replies []Reply

// Expectation is the expected result of a run. An empty field is not checked.
type Expectation struct {
	// State is the state in which the run must end. [readScript] sets it to done if it is not written.
	State  fermata.TaskState `yaml:"state"`
	Reason string            `yaml:"reason"`
	// Steps are the states of steps at their last occurrence.
	Steps map[string]fermata.StepState `yaml:"steps"`
	// Input and Output are the complete inputs and outputs of steps.
	Input  map[string]any `yaml:"input"`
	Output map[string]any `yaml:"output"`
	// Asked are the texts of questions, by step.
	Asked map[string]string `yaml:"asked"`
}

// check returns an error if a script names a step or a tool that the workflow does not have, or answers a step that
// asks nobody: the simulation would ignore such entries. It also returns an error if a tool cannot give what the script
// says.
func (sc Script) check(d *definition.Workflow, known definition.Catalog) error {
	var steps, tools, askNobody []string
	var called []calledStep
	for i := range d.Steps {
		step := &d.Steps[i]
		if !asksPeople(step) && step.OnError != definition.OnErrorAsk {
			askNobody = append(askNobody, step.ID)
		}
		steps, tools = append(steps, step.ID), append(tools, step.Tool)
		called = append(called, newCalledStep(d, known, step.ID, step.Tool))
		if late := d.Timeout(step); late != nil && late.Tool != "" {
			steps, tools = append(steps, timeoutStep(step)), append(tools, late.Tool)
			called = append(called, newCalledStep(d, known, timeoutStep(step), late.Tool))
		}
	}
	if d.CommentsOnFailure {
		steps, tools = append(steps, definition.FailureComment.ID), append(tools, definition.FailureComment.Tool)
	}
	var problems []fermata.Problem
	var hint string
	refuse := func(field, message string, names, known []string) {
		for _, name := range names {
			if slices.Contains(known, name) {
				continue
			}
			problems = append(problems, fermata.Problem{Field: field + "." + name, Message: message})
			if near := expression.Nearest(name, known); near != "" && hint == "" {
				hint = fmt.Sprintf("did you mean %s?", near)
			}
		}
	}
	refuse("tools", "is neither a step nor a tool of the workflow", sortedKeys(sc.Tools), append(tools, steps...))
	const noStep = "is no step of the workflow"
	refuse("answers", noStep, sortedKeys(sc.Answers), steps)
	for _, id := range sortedKeys(sc.Answers) {
		if slices.Contains(askNobody, id) {
			problems = append(problems, fermata.Problem{Field: "answers." + id, Message: "is a step that asks nobody"})
		}
	}
	refuse("expect.steps", noStep, sortedKeys(sc.Expect.Steps), steps)
	refuse("expect.input", noStep, sortedKeys(sc.Expect.Input), steps)
	refuse("expect.output", noStep, sortedKeys(sc.Expect.Output), steps)
	refuse("expect.asked", noStep, sortedKeys(sc.Expect.Asked), steps)
	if len(problems) == 0 {
		return sc.refuseOutcomes(called)
	}
	return fermata.Invalid(problems...).WithHint("%s", cmp.Or(hint, "the steps are "+strings.Join(steps, ", ")))
}

// policy returns the policy under which the workflow is tested.
func (sc Script) policy() (fermata.Policy, error) {
	p := fermata.DefaultPolicy()
	if len(sc.Policy) == 0 {
		return p, nil
	}
	settings, err := json.Marshal(sc.Policy)
	if err == nil {
		err = strictjson.UnmarshalRequest(settings, "policy", &p)
	}
	return p, err
}

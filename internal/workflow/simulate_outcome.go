package workflow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// calledStep is a step as the script sees it: its tool, and the schema of its output.
type calledStep struct {
	id, tool string
	schema   json.RawMessage
	kind     toolKind
}

// toolKind says what a server runs for a tool.
type toolKind int

const (
	// serverTool runs in the server.
	serverTool toolKind = iota
	commandTool
	agentTool
	runTool
	// unknownTool is probably a command or an agent of the workspace, which is not known here.
	unknownTool
)

// kindOf returns the kind of a tool.
func kindOf(known definition.Catalog, name string) toolKind {
	_, isKnown := known.Tools[name]
	switch {
	case name == toolShell, slices.Contains(known.CommandTools, name):
		return commandTool
	case name == toolAgent, slices.Contains(known.DelegatedTools, name):
		return agentTool
	case name == toolWorkflow:
		return runTool
	case !isKnown && !strings.Contains(name, "."):
		return unknownTool
	}
	return serverTool
}

// newCalledStep returns the step with an id. A step that no file contains, such as a comment on a failure, has no schema of
// its own.
func newCalledStep(d *definition.Workflow, known definition.Catalog, id, name string) calledStep {
	s := calledStep{id: id, tool: name, schema: known.Tools[name].Output, kind: kindOf(known, name)}
	if step := d.Step(id); step != nil && len(step.Schema) > 0 {
		s.schema = step.Schema
	}
	return s
}

// refuseOutcomes returns an error if the script gives a step what its tool cannot give.
func (sc Script) refuseOutcomes(called []calledStep) error {
	for _, step := range called {
		outcomes, ok := sc.Tools[step.id]
		if !ok {
			outcomes = sc.Tools[step.tool]
		}
		for i := range outcomes {
			if refusal := outcomes[i].refusalFor(step); refusal != nil {
				return explainScriptError(refusal)
			}
		}
	}
	return nil
}

// refusalFor returns why no call of the step's tool can have the outcome, or nil if one can.
func (o *Outcome) refusalFor(step calledStep) *nodeError {
	field, at := o.commandField()
	if field != "" && step.kind != commandTool && step.kind != unknownTool {
		return &nodeError{at, fmt.Sprintf("the step %s is no command, so it has no %s", step.id, field), "write {output: …} or {error: TEXT}"}
	}
	if !o.isOfCommand(step) {
		return nil
	}
	_, isText := o.Output.(string)
	place := o.places["output"]
	switch {
	case place == nil:
		return nil
	case isText && o.Stdout != "":
		return &nodeError{o.places["stdout"], fmt.Sprintf("output and stdout both say what the command of the step %s prints", step.id), "write only one of them"}
	case o.hasFailed() && !isText:
		return &nodeError{place, fmt.Sprintf("a command that fails, as that of the step %s, gives no output", step.id), "write what it printed: {exit_code: 1, stdout: TEXT, stderr: TEXT}"}
	case isText:
		return nil
	}
	fields, isObject := o.Output.(map[string]any)
	switch {
	case !isObject && len(step.schema) == 0:
		return &nodeError{
			place, fmt.Sprintf("the step %s is a command without a schema, so its output is {exit_code, output}, and not %s", step.id, describeValue(o.Output)),
			"write what it prints: {exit_code: 0, stdout: TEXT}; or give the step a schema, so that its output is the JSON that it prints",
		}
	case isObject && isPartOfCommandOutput(fields):
		return refuseCommandOutput(step, place, fields)
	}
	return nil
}

// commandField returns the first field of the outcome that only a command has, and where it stands.
func (o *Outcome) commandField() (name string, at place) {
	for _, name := range []string{"exit_code", "stdout", "stderr"} {
		if at := o.places[name]; at != nil {
			return name, at
		}
	}
	if e := o.Error; e != nil {
		switch at := o.places["error"]; {
		case e.ExitCode != nil:
			return "exit_code", at
		case e.Stdout != "":
			return "stdout", at
		case e.Stderr != "":
			return "stderr", at
		}
	}
	return "", nil
}

// isOfCommand reports whether the outcome is that of a command. An unknown tool is a command if the script says what a
// command has.
func (o *Outcome) isOfCommand(step calledStep) bool {
	field, _ := o.commandField()
	return step.kind == commandTool || step.kind == unknownTool && field != ""
}

// commandOutputFields are the fields of the output of a command without a schema.
var commandOutputFields = []string{"exit_code", "output", "left_out"}

// isPartOfCommandOutput reports whether an object has only fields that the output of every command has. An empty object
// is such a part.
func isPartOfCommandOutput(fields map[string]any) bool {
	for name := range fields {
		if !slices.Contains(commandOutputFields, name) {
			return false
		}
	}
	return true
}

// refuseCommandOutput returns why no command that succeeds has the fields of an output, or nil if one can.
func refuseCommandOutput(step calledStep, at place, fields map[string]any) *nodeError {
	const hint = "write what it prints: {exit_code: 0, stdout: TEXT}"
	wrong := func(name, want string) *nodeError {
		return &nodeError{at, fmt.Sprintf("the %s in the output of the step %s must be %s", name, step.id, want), hint}
	}
	if code, ok := fields["exit_code"]; ok {
		number, isNumber := wholeNumber(code)
		switch {
		case !isNumber:
			return wrong("exit_code", "0")
		case number != 0:
			return &nodeError{
				at, fmt.Sprintf("the step %s is a command, which fails with the exit code %d: this output is that of a success", step.id, number),
				fmt.Sprintf("write {exit_code: %d, stdout: TEXT}", number),
			}
		}
	}
	if _, isText := fields["output"].(string); fields["output"] != nil && !isText {
		return wrong("output", "a text")
	}
	if _, isNumber := wholeNumber(fields["left_out"]); fields["left_out"] != nil && !isNumber {
		return wrong("left_out", "a whole number")
	}
	return nil
}

// wholeNumber returns the whole number that a value of a script is.
func wholeNumber(value any) (int64, bool) {
	var number int64
	err := json.Unmarshal(encodeJSON(value), &number)
	return number, err == nil && value != nil
}

// describeValue names the kind of a value that is neither a text nor an object.
func describeValue(value any) string {
	switch value.(type) {
	case nil:
		return "empty"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	}
	return "a number"
}

// outputFor returns the output that a server gives the step for an outcome without a failure, or the failure of a step
// whose output does not fit.
func (o *Outcome) outputFor(step calledStep) (any, error) {
	switch {
	case o.isOfCommand(step):
		return o.commandOutputFor(step)
	case step.kind == agentTool:
		return o.agentOutputFor(step)
	case step.kind == unknownTool && len(step.schema) > 0:
		return o.unknownOutputFor(step)
	}
	return o.Output, nil
}

// commandOutputFor returns the output of a command, read from what it prints as a server reads it. An output that is
// neither a text nor {exit_code, output} is the JSON that the command prints, or without a schema the details of its
// result file.
func (o *Outcome) commandOutputFor(step calledStep) (any, error) {
	text, isText := o.Output.(string)
	fields, isObject := o.Output.(map[string]any)
	isWhole := len(step.schema) == 0 || fields["exit_code"] != nil
	details := map[string]any{"exit_code": 0, "output": o.Stdout}
	switch {
	case o.Output == nil && (o.places["output"] == nil || o.Stdout != ""):
	case isText:
		details["output"] = text
	case isObject && isPartOfCommandOutput(fields) && isWhole:
		for name, value := range fields {
			details[name] = value
		}
	case len(step.schema) == 0:
		return ParseOutput(nil, encodeJSON(o.Output), "")
	default:
		details["output"] = string(encodeJSON(o.Output))
	}
	output, err := parseCommandOutput(step.schema, encodeJSON(details), "")
	if err != nil {
		exitCode := 0
		printed, _ := details["output"].(string)
		return nil, &stepError{code: codeOutput, err: err, output: &commandOutput{&exitCode, printed, o.Stderr}}
	}
	return output, nil
}

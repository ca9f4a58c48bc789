package workflow

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/tool"
)

// AgentPrompt returns the prompt for an agent whose output has a schema: the task, and how to end so that [ParseOutput]
// finds the result.
func AgentPrompt(prompt string, schema json.RawMessage) string {
	if len(schema) == 0 {
		return prompt
	}
	schemaText := schema
	var indented bytes.Buffer
	if json.Indent(&indented, schema, "", "  ") == nil {
		schemaText = indented.Bytes()
	}
	return strings.TrimSpace(prompt) + "\n\n" +
		"When you are done, end your last message with the result as one JSON value in a fenced block, and write nothing after it:\n\n" +
		"```json\n…\n```\n\n" +
		"A program reads it, so it must fit this JSON Schema exactly:\n\n" +
		"```json\n" + string(schemaText) + "\n```\n"
}

// ParseOutput returns the output of a step's task: JSON that fits the schema. It looks in the details of the run and in
// the text of the agent, where it tries the parts that [agent.JSONTexts] names. The error lists every mismatch with its
// path.
//
// Without a schema, the output is the details as they are. If there are none, it is the text as {"summary": …}.
func ParseOutput(schema, details json.RawMessage, summary string) (any, error) {
	decoded, agentText, err := splitDetails(details, summary)
	if err != nil {
		return nil, err
	}
	if len(schema) == 0 {
		if decoded != nil {
			return convertOutput(decoded)
		}
		return map[string]any{"summary": agentText}, nil
	}
	compiled, err := compile(schema)
	if err != nil {
		return nil, err
	}
	candidates := jsonCandidates(agentText)
	object, _ := decoded.(map[string]any)
	isCommand := isCommandOutput(object)
	switch {
	case isCommand:
		// The JSON that a program printed comes first. The exit code and the output themselves are candidates only if
		// the schema names one of them.
		// The summary is the last line of the output: alone, it may be a part of a longer value.
		candidates = jsonCandidates(object["output"].(string))
		if found, ok := object[printedJSON]; ok {
			candidates = append([]any{found}, candidates...)
			delete(object, printedJSON)
		}
		if namesCommandOutput(schema) {
			candidates = append(candidates, decoded)
		}
	case decoded != nil:
		candidates = append([]any{decoded}, candidates...)
	}
	var first error
	for _, c := range candidates {
		err := compiled.Validate(c)
		if err == nil {
			return convertOutput(c)
		}
		if first == nil {
			first = err
		}
	}
	if isCommand {
		return nil, commandMismatchError(first, object)
	}
	return nil, mismatchError(cmp.Or(first, errNoJSON), "output", hintAgentOutput)
}

// convertOutput returns an output with the numbers of expressions. A number that they do not hold as it is makes an error.
func convertOutput(v any) (any, error) {
	output, err := tool.ConvertNumbers(v)
	if lost, ok := errors.AsType[*tool.LostNumberError](err); ok {
		return nil, fermata.LostNumberError("the output", lost.Literal)
	}
	return output, err
}

// commandMismatchError returns the error for the output of a command that does not fit its schema. A cause that is nil
// means that no JSON was found.
func commandMismatchError(cause error, printed map[string]any) *fermata.Error {
	e := mismatchError(cmp.Or(cause, errNoCommandJSON), "output", hintCommandOutput)
	if lost, ok := printed["left_out"].(json.Number); ok {
		dropped, _ := lost.Int64()
		kept := len(printed["output"].(string)) //nolint:forcetypeassert // isCommandOutput has checked it
		e.Message += fmt.Sprintf("; the command printed %d bytes, and its JSON may have at most %d", dropped+int64(kept), fermata.MaxPrintedJSON)
	}
	return e
}

// splitDetails returns the details of a run and the agent's text. Details with only a "text" are not returned as details: they
// hold a text that is too long for a summary.
func splitDetails(details json.RawMessage, summary string) (decoded any, agentText string, err error) {
	if len(bytes.TrimSpace(details)) == 0 {
		return nil, summary, nil
	}
	if decoded, err = jsonschema.UnmarshalJSON(bytes.NewReader(details)); err != nil {
		return nil, "", fermata.Errorf(fermata.CodeInvalidRequest, "the details of the run are no JSON: %s", err)
	}
	if object, ok := decoded.(map[string]any); ok && len(object) == 1 {
		if text, ok := object["text"].(string); ok {
			return nil, text, nil
		}
	}
	return decoded, summary, nil
}

// isCommandOutput reports whether details are the default ones of a program: its exit code, its output, how much of the
// output was left out, and the JSON in it.
func isCommandOutput(details map[string]any) bool {
	_, code := details["exit_code"]
	_, output := details["output"].(string)
	want := 2
	for _, optional := range []string{"left_out", printedJSON} {
		if _, ok := details[optional]; ok {
			want++
		}
	}
	return code && output && len(details) == want
}

// namesCommandOutput reports whether a schema names the exit code or the output of a program.
func namesCommandOutput(schema json.RawMessage) bool {
	var fields struct {
		Properties map[string]any `json:"properties"`
		Required   []string       `json:"required"`
	}
	if json.Unmarshal(schema, &fields) != nil {
		return false
	}
	return slices.ContainsFunc([]string{"exit_code", "output"}, func(name string) bool {
		_, ok := fields.Properties[name]
		return ok || slices.Contains(fields.Required, name)
	})
}

// jsonCandidates returns the JSON values that a text may contain as its result, the likeliest first.
func jsonCandidates(text string) []any {
	var values []any
	for _, one := range agent.JSONTexts(text) {
		if value, err := jsonschema.UnmarshalJSON(strings.NewReader(one)); err == nil {
			values = append(values, value)
		}
	}
	return values
}

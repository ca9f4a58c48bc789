package workflow

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
)

// AgentPrompt returns the prompt for an agent whose output has a schema: the task, and how to end so that [ParseOutput]
// finds the result.
func AgentPrompt(prompt string, schema json.RawMessage) string {
	if len(schema) == 0 {
		return prompt
	}
	shown := schema
	var indented bytes.Buffer
	if json.Indent(&indented, schema, "", "  ") == nil {
		shown = indented.Bytes()
	}
	return strings.TrimSpace(prompt) + "\n\n" +
		"When you are done, end your last message with the result as one JSON value in a fenced block, and write nothing after it:\n\n" +
		"```json\n…\n```\n\n" +
		"A program reads it, so it must fit this JSON Schema exactly:\n\n" +
		"```json\n" + string(shown) + "\n```\n"
}

// ParseOutput returns the output of a step's task: JSON that fits the schema. It looks in the details of the run and in
// the text of the agent. In the text it tries the whole text, its last fenced block, and the object in it. The error
// lists every mismatch with its path.
//
// Without a schema, the output is the details as they are. If there are none, it is the text as {"summary": …}.
func ParseOutput(schema, details json.RawMessage, summary string) (any, error) {
	given, said, err := parts(details, summary)
	if err != nil {
		return nil, err
	}
	if len(schema) == 0 {
		if given != nil {
			return tool.Plain(given), nil
		}
		return map[string]any{"summary": said}, nil
	}
	compiled, err := compile(schema)
	if err != nil {
		return nil, err
	}
	candidates := jsonIn(said)
	object, _ := given.(map[string]any)
	switch {
	case isPrinted(object):
		// The JSON that a program printed comes first. The exit code and the output themselves are candidates only if
		// the schema names one of them.
		candidates = append(jsonIn(object["output"].(string)), candidates...)
		if namesPrinted(schema) {
			candidates = append(candidates, given)
		}
	case given != nil:
		candidates = append([]any{given}, candidates...)
	}
	var first error
	for _, c := range candidates {
		err := compiled.Validate(c)
		if err == nil {
			return tool.Plain(c), nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, mismatch(first, codeOutput)
}

// parts returns the details of a run and the agent's text. Details with only a "text" are not returned as details: they
// hold a text that is too long for a summary.
func parts(details json.RawMessage, summary string) (given any, said string, err error) {
	if len(bytes.TrimSpace(details)) == 0 {
		return nil, summary, nil
	}
	if given, err = jsonschema.UnmarshalJSON(bytes.NewReader(details)); err != nil {
		return nil, "", fermata.Errorf(fermata.CodeInvalidRequest, "the details of the run are no JSON: %s", err)
	}
	if object, ok := given.(map[string]any); ok && len(object) == 1 {
		if text, ok := object["text"].(string); ok {
			return nil, text, nil
		}
	}
	return given, summary, nil
}

// isPrinted reports whether details are the default ones of a program: its exit code, its output, and how much of the
// output was left out.
func isPrinted(details map[string]any) bool {
	_, code := details["exit_code"]
	_, output := details["output"].(string)
	_, cut := details["left_out"]
	return code && output && (len(details) == 2 || cut && len(details) == 3)
}

// namesPrinted reports whether a schema names the exit code or the output of a program.
func namesPrinted(schema json.RawMessage) bool {
	var of struct {
		Properties map[string]any `json:"properties"`
		Required   []string       `json:"required"`
	}
	if json.Unmarshal(schema, &of) != nil {
		return false
	}
	return slices.ContainsFunc([]string{"exit_code", "output"}, func(name string) bool {
		_, ok := of.Properties[name]
		return ok || slices.Contains(of.Required, name)
	})
}

// fenced matches blocks between lines of three backticks.
var fenced = regexp.MustCompile("(?ms)^[ \t]*```[^\n`]*\n(.*?)^[ \t]*```[ \t]*\r?$")

// jsonIn returns the JSON values that a text can mean, the likeliest first.
func jsonIn(text string) []any {
	texts := []string{text}
	if blocks := fenced.FindAllStringSubmatch(text, -1); len(blocks) > 0 {
		texts = append(texts, blocks[len(blocks)-1][1])
	}
	if from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}'); from >= 0 && from < to {
		texts = append(texts, text[from:to+1])
	}
	var values []any
	for _, one := range texts {
		if value, err := jsonschema.UnmarshalJSON(strings.NewReader(one)); err == nil {
			values = append(values, value)
		}
	}
	return values
}

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

// AgentPrompt is what an agent is told whose output has a schema: the task, and
// how to end so that [ParseOutput] finds what came of it.
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

// ParseOutput returns what the task of a step gave: JSON that fits the schema, out
// of the details of its run or of what it said – the whole of it, its last fenced
// block, or the object in it. The error lists every mismatch with its path.
//
// Without a schema it is the details as they are, or else what was said as
// {"summary": …}.
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
		// The JSON that a program printed comes first. The schema is about the exit code and the output only if it names one of them.
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

// parts are the details, unless they only hold what was said where that is too
// long for a summary, and what was said.
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

// isPrinted reports whether details are those of a program that has none of its
// own: its exit code, what it printed, and how much of that was left out.
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

// fenced finds blocks between lines of three backticks.
var fenced = regexp.MustCompile("(?ms)^[ \t]*```[^\n`]*\n(.*?)^[ \t]*```[ \t]*\r?$")

// jsonIn lists the JSON values that a text can mean, the likeliest first.
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

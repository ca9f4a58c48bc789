package workflow_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow"
)

var schema = json.RawMessage(`{
  "type": "object", "required": ["confidence"], "additionalProperties": false,
  "properties": {
    "confidence": {"type": "integer", "minimum": 0, "maximum": 100},
    "options": {"type": "array", "items": {"type": "object", "properties": {"label": {"type": "string"}}}}
  }
}`)

func TestParseOutput(t *testing.T) {
	t.Parallel()
	sure := map[string]any{"confidence": 80}
	block := "I looked at it.\n\n```json\n{\"confidence\": 12}\n```\nNo, rather:\n\n```json\n{\"confidence\": 80}\n```\n"
	tests := []struct {
		name             string
		schema           json.RawMessage
		details, summary string
		want             any
	}{
		{"details", schema, `{"confidence": 80}`, "done", sure},
		{"the summary whole", schema, "", " {\"confidence\": 80}\n", sure},
		{"the last block", schema, "", block, sure},
		{"a block without a language, indented", schema, "", "done\n  ```\n  {\"confidence\": 80}\n  ```", sure},
		{"an object in the text", schema, "", "The result is {\"confidence\": 80}.", sure},
		{"null details", schema, "null", block, sure},
		{"a text too long for a summary", schema, `{"text": ` + quote(block) + `}`, "I looked at it.…", sure},
		{"what a program printed", schema, `{"exit_code": 0, "output": "{\"confidence\": 80}\n"}`, `{"confidence": 80}`, sure},
		{"its last lines", schema, `{"exit_code": 0, "output": "building\n{\"confidence\":\n80}\n"}`, `80}`, sure},
		{"its exit code", json.RawMessage(`{"required": ["exit_code"]}`), `{"exit_code": 0, "output": "fine"}`, "fine", map[string]any{"exit_code": 0, "output": "fine"}},
		{"any value", json.RawMessage(`{"type": "array"}`), "", "[1, 2.5, 9007199254740993]", []any{1, 2.5, 9007199254740993}},
		{"without a schema, details", nil, `{"exit_code": 0, "output": "{}"}`, "x", map[string]any{"exit_code": 0, "output": "{}"}},
		{"without a schema, what was said", nil, "", `{"a": 1}`, map[string]any{"summary": `{"a": 1}`}},
		{"without a schema, all that was said", nil, `{"text": "long"}`, "lo…", map[string]any{"summary": "long"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := workflow.ParseOutput(tt.schema, json.RawMessage(tt.details), tt.summary)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMismatchesAreNamed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, summary string
		problems      []fermata.Problem
		words         string
	}{
		{"every one, with its path", `{"confidence": "high", "options": [{"label": "a"}, {"label": 2}], "extra": 1}`, []fermata.Problem{
			{Field: "", Message: "additional properties 'extra' not allowed"},
			{Field: "confidence", Message: "got string, want integer"},
			{Field: "options[1].label", Message: "got number, want string"},
		}, "options[1].label: got number, want string"},
		{"what is missing", "```\n{}\n```", []fermata.Problem{{Message: "missing property 'confidence'"}}, "missing property 'confidence'"},
		{"no JSON", "I could not do it.", nil, "no JSON was found"},
		{"JSON that is cut between its lines", "{\"confidence\": 8, \"options\": [\n{\"confidence\": 80}\n", nil, "no JSON was found"},
		{"JSON that is cut", "```json\n{\"confidence\": 8\n```", nil, "no JSON was found"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := workflow.ParseOutput(schema, nil, tt.summary)
			var e *fermata.Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, tt.words) || e.Hint == "" {
				t.Fatalf("got %v %v", got, err)
			}
			sorted := cmp.Transformer("byField", func(list []fermata.Problem) map[string]string {
				all := map[string]string{}
				for _, p := range list {
					all[p.Field] = p.Message
				}
				return all
			})
			if diff := cmp.Diff(tt.problems, e.Problems, sorted); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSchemaOfAnOutput(t *testing.T) {
	t.Parallel()
	for raw, words := range map[string]string{
		`{"type": "thing"}`:                   "not valid",
		`{`:                                   "no JSON",
		`{"$ref": "file:///etc/hostname"}`:    "is not read",
		`{"$ref": "https://example.com/x"}`:   "is not read",
		`{"$ref": "#/definitions/nothing"}`:   "not valid",
		`{"type": "object", "required": "a"}`: "not valid",
	} {
		_, err := workflow.ParseOutput(json.RawMessage(raw), nil, "{}")
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s gave %v, want %q", raw, err, words)
		}
	}
}

func TestManyMismatchesAreCut(t *testing.T) {
	t.Parallel()
	list := "[" + strings.Repeat(`"x",`, 99) + `"x"]`
	_, err := workflow.ParseOutput(json.RawMessage(`{"items": {"type": "number"}}`), nil, list)
	if err == nil || !strings.Contains(err.Error(), "and 80 more") {
		t.Errorf("got %v", err)
	}
}

// ParseOutput reads the output in the form that the prompt asks for.
func TestAgentPrompt(t *testing.T) {
	t.Parallel()
	prompt := workflow.AgentPrompt("Analyze the issue.\n", schema)
	for _, want := range []string{"Analyze the issue.\n\n", "fenced block", `"confidence"`} {
		if !strings.Contains(prompt, want) {
			t.Errorf("the prompt has no %q:\n%s", want, prompt)
		}
	}
	if got := workflow.AgentPrompt("Fix it.", nil); got != "Fix it." {
		t.Errorf("got %q", got)
	}
}

func quote(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}

// An exit code alone does not satisfy a schema that is not about exit codes.
func TestAProgramThatPrintsNoJSONMeetsNoSchema(t *testing.T) {
	t.Parallel()
	printed := json.RawMessage(`{"exit_code": 0, "output": "garbage\n"}`)
	for _, schema := range []string{`{}`, `{"type": "object", "properties": {"n": {"type": "integer"}}}`, `{"required": ["n"]}`} {
		got, err := workflow.ParseOutput(json.RawMessage(schema), printed, "garbage")
		if err == nil || !strings.Contains(err.Error(), "no JSON was found") {
			t.Errorf("%s: %v %v", schema, got, err)
		}
	}
}

// The error for a command whose output was cut says so, and how to give a long result.
func TestMissingJSONOfACommand(t *testing.T) {
	t.Parallel()
	cut := json.RawMessage(`{"exit_code": 0, "output": "1, 2]}\n", "left_out": 70000}`)
	for name, tt := range map[string]struct {
		details json.RawMessage
		words   []string
	}{
		"no JSON":        {json.RawMessage(`{"exit_code": 0, "output": "garbage\n"}`), []string{"no JSON was found in what the command printed"}},
		"cut JSON":       {cut, []string{"the command printed 70007 bytes, and its JSON may have at most 962560"}},
		"a whole piece":  {json.RawMessage(`{"exit_code": 0, "output": "{\"sub\":\n{\"confidence\": 80}\n"}`), []string{"no JSON was found in what the command printed"}},
		"part of a JSON": {json.RawMessage(`{"exit_code": 0, "output": "1, {\"n\": 2}\n", "left_out": 70000}`), []string{"does not fit its schema", "and its JSON may have at most 962560"}},
		"another schema": {json.RawMessage(`{"exit_code": 0, "output": "{\"n\": 1}"}`), []string{"does not fit its schema"}},
	} {
		_, err := workflow.ParseOutput(schema, tt.details, `{"confidence": 80}`)
		var e *fermata.Error
		if !errors.As(err, &e) || strings.Contains(e.Hint, "prompt") || !strings.Contains(e.Hint, "FERMATA_RESULT") {
			t.Errorf("%s: %v (%+v)", name, err, e)
			continue
		}
		for _, words := range tt.words {
			if !strings.Contains(e.Message, words) {
				t.Errorf("%s: %q does not contain %q", name, e.Message, words)
			}
		}
	}
}

// A number that would change is no output.
func TestOutputsKeepTheirNumbers(t *testing.T) {
	t.Parallel()
	for _, number := range []string{"1e400", "12345678901234567890"} {
		for name, schema := range map[string]json.RawMessage{"with a schema": json.RawMessage(`{"type": "object"}`), "without one": nil} {
			got, err := workflow.ParseOutput(schema, json.RawMessage(`{"a": [`+number+`]}`), "")
			if err == nil || !strings.Contains(err.Error(), "the output has the number "+number) {
				t.Errorf("%s, %s: %v, %v", number, name, got, err)
			}
		}
	}
}

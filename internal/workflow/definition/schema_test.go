package definition_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/posting"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

func compileSchema(t *testing.T, source json.RawMessage) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("x.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("x.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The schema for editors accepts the same files as Load.
func TestSchema(t *testing.T) {
	t.Parallel()
	s := compileSchema(t, definition.Schema())
	right := `{"name": "x", "triggers": [{"label_added": "fix", "repo": "a/b"}], "steps": [{"id": "a", "tool": "tracker.list-issues", "on_reject": {"goto": "a"}}]}`
	v, _ := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(right)))
	if err := s.Validate(v); err != nil {
		t.Error(err)
	}
	v, _ = jsonschema.UnmarshalJSON(bytes.NewReader([]byte(`{"name": "x", "steps": [{"id": "a"}]}`)))
	if s.Validate(v) == nil {
		t.Error("a step without a tool was taken")
	}
	definition.Schema()[0] = 'x'
	if definition.Schema()[0] == 'x' {
		t.Error("a caller can change the schema")
	}
}

// Every question field that a file may contain is also read when the question
// is asked.
func TestEveryFieldOfAQuestionIsRead(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"post_question", "request_approval"} {
		var schema struct {
			Properties map[string]any `json:"properties"`
		}
		if err := json.Unmarshal(definition.ToolInput(name), &schema); err != nil || len(schema.Properties) == 0 {
			t.Fatalf("%s: %v", name, err)
		}
		for field := range schema.Properties {
			if _, err := posting.Read(map[string]any{field: nil}, false); err != nil {
				t.Errorf("%s: %s: %v", name, field, err)
			}
		}
	}
}

func TestToolInput(t *testing.T) {
	t.Parallel()
	if definition.ToolInput("http") != nil {
		t.Error("http is no tool of every engine")
	}
	for _, name := range []string{"request_approval", "agent", "shell", "wait", "workflow"} {
		compileSchema(t, definition.ToolInput(name))
	}
	s := compileSchema(t, definition.ToolInput("post_question"))
	// Every field of a request can be written in a workflow, except for those
	// that the engine sets.
	data, _ := json.Marshal(fermata.Ask{
		Question: "q", Title: "t", Body: "b", Type: fermata.Blocking, ResponseType: fermata.ResponseChoice,
		Options: []fermata.Option{{Value: "a", Label: "A", Danger: true}}, Other: new(true), Default: "a",
		Assignees: []string{"ann"}, Approvals: &fermata.Quorum{Required: 2, Self: true, Reject: "first"}, Timeout: "3d", OnTimeout: fermata.TakeDefault,
		Escalation: []fermata.EscalationLevel{{Assignees: []string{"bob"}, Timeout: "1h", OnTimeout: fermata.FailTask}},
		Channels:   []string{"slack"}, Reminders: []string{"10m"}, ShareContext: true, AllowDangerDefault: true, Risk: fermata.RiskLow,
		DedupeKey: "k", Metadata: map[string]string{"a": "b"}, Context: &fermata.QuestionContext{Step: "s", Preview: &fermata.Preview{Kind: "diff", Text: "x"}},
	})
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(v); err != nil {
		t.Error(err)
	}
}

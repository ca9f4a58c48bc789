package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
)

// If an agent's last message ends with a report, the report asks a person. Every other run that ends well is done.
func TestEnded(t *testing.T) {
	t.Parallel()
	const block = "I am stuck.\n\n```json\n{\n  \"status\": \"needs_input\",\n  \"question\": \"Which format?\",\n  \"questionContext\": \"The old files are YAML.\",\n  \"summary\": \"Drafted it.\"\n}\n```\n"
	for name, tt := range map[string]struct {
		said, spec             string
		result                 fermata.Result
		question, body, summed string
	}{
		"a report in a block":           {said: block, result: fermata.ResultNeedsInput, question: "Which format?", body: "The old files are YAML.", summed: "Drafted it."},
		"one on the last line":          {said: "Hm.\n" + `{"result":"needs_input","question":{"question":"Which?"}}`, result: fermata.ResultNeedsInput, question: "Which?", summed: "as said"},
		"without a question":            {said: `{"status":"needs_input","summary":"Which format?"}`, result: fermata.ResultNeedsInput, summed: "Which format?"},
		"a key that is misspelt":        {said: `{"status":"needs_input","questoin":"Which?"}`, result: fermata.ResultFailed, summed: `unknown field "questoin"`},
		"a result that is spelt so":     {said: `{"status":"needs-input","question":"Which?"}`, result: fermata.ResultFailed, summed: "expected one of"},
		"in the middle of the words":    {said: `{"status":"needs_input","question":"Which?"}` + "\nis what I would say.", summed: "as said"},
		"another object":                {said: `{"status":"completed","files":["a"]}`, summed: "as said"},
		"no object":                     {said: "needs_input", summed: "as said"},
		"nothing":                       {said: " \n", summed: "as said"},
		"the output of a workflow step": {said: block, spec: `{"key":"task_1/step/1","working_copy":"task_1"}`, summed: "as said"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := agent.ApplyReport(fermata.Finish{Summary: "as said", Session: &fermata.Session{ID: "s-1"}}, &fermata.Task{Spec: json.RawMessage(tt.spec)}, tt.said)
			var asked fermata.Ask
			if got.Question != nil {
				asked = *got.Question
			}
			if got.Result != tt.result || asked.Question != tt.question || asked.Body != tt.body || !strings.Contains(got.Summary, tt.summed) || got.Session == nil {
				t.Errorf("got %+v with the question %+v", got, asked)
			}
		})
	}
}

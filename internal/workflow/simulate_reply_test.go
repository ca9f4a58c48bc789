package workflow_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow"
)

// A list of options is one answer to a question that takes several options. Other lists are replies to successive questions.
func TestAListOfOptionsIsOneAnswer(t *testing.T) {
	t.Parallel()
	const source = `
name: lists
triggers: [{manual: true}]
steps:
  - {id: m, tool: post_question, suspend: true, repeat: {from: m, until: "len(steps.m.answer) == 2", max: 5}, input: {question: "Which?", responseType: multi_choice, options: [{label: Ex, value: x}, y, z]}}
`
	for answers, want := range map[string]string{
		"[x, z]": `["x","z"]`, "[Ex, z]": `["x","z"]`, "[[x, z]]": `["x","z"]`, "{answer: [x, z]}": `["x","z"]`, "'x, z'": `["x","z"]`,
		"[[x], [y, z]]": `["x"] ["y","z"]`, "[x, [y, z]]": `["x"] ["y","z"]`, "[x, {answer: [y, z]}]": `["x"] ["y","z"]`, "[[x], Ex, 'y, z']": `["x"] ["x"] ["y","z"]`,
	} {
		report, err := workflow.Simulate(t.Context(), []byte(source), []byte("answers: {m: "+answers+"}\n"), nil)
		if err != nil || !report.Passed || len(report.Warnings) > 0 {
			t.Errorf("%s: %v %s", answers, err, asJSON(report))
			continue
		}
		var given []string
		for _, s := range report.Run.Steps {
			var output struct {
				Answer json.RawMessage `json:"answer"`
			}
			if err := json.Unmarshal(s.Output, &output); err != nil {
				t.Fatal(err)
			}
			given = append(given, string(output.Answer))
		}
		if got := strings.Join(given, " "); got != want {
			t.Errorf("%s: got %s, want %s", answers, got, want)
		}
	}
}

// A report names the entries of a script that no question and no call used.
func TestEntriesThatNothingUsesAreNamed(t *testing.T) {
	t.Parallel()
	const source = `
name: left
triggers: [{manual: true}]
steps:
  - {id: a, tool: shell, input: {command: [x]}}
  - {id: q, tool: post_question, suspend: true, input: {question: "Which?", options: [x, y]}}
  - {id: n, tool: post_question, input: {question: "Which?", options: [x, y], default: x}}
  - {id: m, tool: post_question, suspend: true, input: {question: "Which?", responseType: multi_choice, options: [x, y]}}
  - {id: s, tool: post_question, suspend: true, condition: "false", input: {question: "Which?", options: [x, y]}}
`
	for script, want := range map[string][]string{
		"answers: {q: x, m: y}":                              nil,
		"answers: {q: [x], m: [y, x]}":                       nil,
		"answers: {q: [x, y, x], m: y}":                      {"answers.q: 2 of 3 entries were not used: the step q waited for 1 answer"},
		"answers: {q: x, m: [x, other]}":                     {"answers.m: 1 of 2 entries was not used: the step m waited for 1 answer"},
		"answers: {q: x, m: y, s: y}":                        {"answers.s: not used: the step s waited for no answer"},
		"answers: {q: x, m: y, n: y}":                        {"answers.n: not used: the step n waited for no answer"},
		"answers: {q: x, m: y}\ntools: {a: [{}, {}]}":        {"tools.a: 1 of 2 entries was not used: there was 1 call"},
		"answers: {q: x, m: y}\ntools: {shell: [{}, {}]}":    {"tools.shell: 1 of 2 entries was not used: there was 1 call"},
		"answers: {q: x, m: y}\ntools: {a: {}, shell: [{}]}": {"tools.shell: not used: there was no call"},
	} {
		report, err := workflow.Simulate(t.Context(), []byte(source), []byte(script+"\n"), nil)
		if err != nil || !report.Passed || !slices.Equal(report.Warnings, want) {
			t.Errorf("%s: %v %s, want %q", script, err, asJSON(report), want)
		}
	}
}

const approvalTest = `
name: edit
triggers: [{manual: true}]
steps:
  - {id: appr, tool: request_approval, input: {title: "Go?", action: ACTION}}
  - {id: b, tool: check, input: {does: "{{ steps.appr.output.action }}"}}
`

// A script approves an edited action as a person does on a server.
func TestAScriptApprovesAnEditedAction(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ action, answer, want, failure string }{
		{`{c: 1}`, `approve`, `{"does":{"c":1}}`, ""},
		{`{c: 1}`, `{answer: approve, action: {c: 2, b: [x, null, true, 1.50, 9007199254740993], "a \"b\"": '<y>'}}`, `{"does":{"a \"b\"":"\u003cy\u003e","b":["x",null,true,1.5,9007199254740993],"c":2}}`, ""},
		{`{c: 1}`, `{answer: approve, action: rm -r x}`, `{"does":"rm -r x"}`, ""},
		{`{c: 1}`, `{answer: approve, action: null}`, `{"does":{"c":1}}`, ""},
		{`{tool: Bash, input: {command: ls}}`, `{answer: approve, action: {tool: Bash, input: {command: pwd}}}`, `{"does":{"input":{"command":"pwd"},"tool":"Bash"}}`, ""},
		{`{tool: Bash, input: {command: ls}}`, `{answer: approve, action: {tool: Other, input: {command: ls}}}`, "", "the edited action is of another tool or folder"},
		{`{c: 1}`, `{answer: reject, action: {c: 2}}`, "", "only an approval of a question that has an action may edit the action"},
		{`{c: 1}, approvals: {required: 2}`, `{answer: approve, action: {c: 2}}`, "", "cannot be edited by one of them"},
		{`{c: 1}`, `{answer: approve, action: {c: 2, C: 3}}`, "", "C"},
	} {
		source := strings.Replace(approvalTest, "ACTION", tt.action, 1)
		report, err := workflow.Simulate(t.Context(), []byte(source), []byte("answers: {appr: "+tt.answer+"}\n"), nil)
		if err != nil {
			t.Errorf("%s: %v", tt.answer, err)
			continue
		}
		if tt.failure != "" {
			if report.Passed || !strings.Contains(report.Failures[0], "the answer to the step appr is refused") || !strings.Contains(report.Failures[0], tt.failure) {
				t.Errorf("%s: %s", tt.answer, asJSON(report.Failures))
			}
			continue
		}
		if !report.Passed || string(report.Run.Steps[1].Input) != tt.want {
			t.Errorf("%s: %s", tt.answer, asJSON(report))
		}
	}
}

// An edited action that a question cannot take is refused with its place.
func TestAnEditedActionThatCannotBe(t *testing.T) {
	t.Parallel()
	source := strings.Replace(approvalTest, "ACTION", "{c: 1}", 1)
	for answer, want := range map[string]string{
		"{action: {c: 1}, timeout: true}":      "[1:34] action and timeout: true contradict each other",
		"{answer: approve, action: {c: .nan}}": "not every program reads .nan as the same number",
	} {
		_, err := workflow.Simulate(t.Context(), []byte(source), []byte("answers: {appr: "+answer+"}\n"), nil)
		var refusal *fermata.Error
		if !errors.As(err, &refusal) || !strings.Contains(refusal.Message, want) {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

package workflow_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow"
)

// A failed step of a test has the error that a server gives: the code of a tool that runs elsewhere, or the error that
// the script says.
func TestAScriptGivesTheErrorOfAServer(t *testing.T) {
	t.Parallel()
	infos := []tool.Info{{Name: "fetch", Output: json.RawMessage(`{"type": "object"}`)}}
	for _, tt := range []struct{ tool, outcome, want string }{
		{"shell, input: {command: [x]}", `{error: oh}`, `{"code":"child_failed","message":"oh"}`},
		{"agent, input: {prompt: x}", `{error: oh}`, `{"code":"child_failed","message":"oh"}`},
		{"workflow, input: {name: y}", `{error: oh}`, `{"code":"child_failed","message":"oh"}`},
		{"unknown_here", `{error: oh}`, `{"code":"child_failed","message":"oh"}`},
		{"server.tool", `{error: oh}`, `{"code":"tool_failed","message":"oh"}`},
		{"fetch", `{error: oh}`, `{"code":"tool_failed","message":"oh"}`},
		{"fetch", `{error: {code: not_found, message: gone}}`, `{"code":"not_found","message":"gone"}`},
		{"fetch", `{error: {code: not_found}}`, `{"code":"not_found","message":"not_found"}`},
		{"shell, input: {command: [x]}", `{error: {message: oh, exit_code: 3, stdout: a, stderr: b}}`, `{"code":"child_failed","message":"oh","exit_code":3,"stdout":"a","stderr":"b"}`},
		{"shell, input: {command: [x]}", `{error: {exit_code: 3, stderr: b}}`, `{"code":"child_failed","message":"The program ended with exit status 3.\nb","exit_code":3,"stderr":"b"}`},
		{"shell, timeout: 5s, input: {command: [x]}", `{error: {code: step_timeout, message: slow, stdout: a}}`, `{"code":"step_timeout","message":"slow","stdout":"a"}`},
	} {
		source := "name: x\ntriggers: [{manual: true}]\nsteps: [{id: a, tool: " + tt.tool + "}]\n"
		report, err := workflow.Simulate(t.Context(), []byte(source), []byte("tools: {a: "+tt.outcome+"}\n"), infos)
		if err != nil {
			t.Errorf("%s %s: %v", tt.tool, tt.outcome, err)
			continue
		}
		if report.Run == nil || asJSON(report.Run.Steps[0].Error) != tt.want {
			t.Errorf("%s %s: %s", tt.tool, tt.outcome, asJSON(report))
		}
	}
}

// An output that does not fit its schema fails as on a server: an agent tries three times, and a command is told how to
// print its result.
func TestAScriptGivesTheMismatchOfAServer(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]struct {
		attempts int
		hint     string
	}{
		"agent, input: {prompt: x}":    {3, "say in the prompt"},
		"shell, input: {command: [x]}": {1, "print the result as JSON"},
	} {
		source := "name: x\ntriggers: [{manual: true}]\nsteps: [{id: a, tool: " + step + ", schema: {type: object, required: [n]}}]\n"
		report, err := workflow.Simulate(t.Context(), []byte(source), []byte("tools: {a: {output: {}}}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		a := report.Run.Steps[0]
		if a.Error == nil || a.Error.Code != "output_mismatch" || a.Attempt != want.attempts || !strings.Contains(a.Error.Hint, want.hint) {
			t.Errorf("%s: %s", step, asJSON(a))
		}
	}
}

// A script that does not fit says what is wrong, where, and what to write.
func TestAScriptThatDoesNotFitSaysWhatToWrite(t *testing.T) {
	t.Parallel()
	const source = "name: plain\ntriggers: [{manual: true}]\nsteps:\n  - {id: a, tool: shell, input: {command: [make]}}\n  - {id: q, tool: post_question, suspend: true, input: {question: Go?}}\n"
	for script, want := range map[string]struct{ message, hint string }{
		"tools:\n  a:\n    error: [x]\n":                              {"[3:12] error is a list", "error: {code: …, message: …}"},
		"tools:\n  a:\n    error: {cod: x}\n":                         {"[3:13] there is no field cod here", "did you mean code?"},
		"tools:\n  a:\n    error: {code: No Such}\n":                  {"[3:19] code must be", "child_failed"},
		"tools:\n  a:\n    exit_code: one\n":                          {"[3:16] exit_code must be a whole number, and is a text", "exit_code"},
		"tools:\n  a:\n    outputt: x\n":                              {"[3:5] there is no field outputt here", "did you mean output?"},
		"tools:\n  a: failed\n":                                       {"[2:6] a text has no place here", "{error: …}"},
		"tools:\n  a: {exit_code: -1}\n":                              {"[2:7] exit_code must not be negative", "error:"},
		"tools:\n  a: {error: {exit_code: -1}}\n":                     {"[2:15] exit_code must not be negative", "error:"},
		"tools:\n  a: {output: x, error: y}\n":                        {"[2:18] output and error contradict each other", "only one of them"},
		"tools:\n  a:\n    exit_code: 1\n    error: {exit_code: 2}\n": {"[4:5] exit_code is in the error and beside it", "only one of them"},
		"tools:\n  a: {stderr: x, error: {stderr: y}}\n":              {"[2:18] stderr is in the error and beside it", "only one of them"},
		"answers:\n  q: {answer: p, timeout: true}\n":                 {"[2:18] answer and timeout: true contradict each other", "only one of them"},
		"answers:\n  q: [{answer: p}, {comment: p, timeout: true}]\n": {"[2:33] comment and timeout: true contradict each other", "only one of them"},
		"answers:\n  q: {answers: {a: p}, timeout: true}\n":           {"[2:24] answers and timeout: true contradict each other", "only one of them"},
		"answers:\n  q: {answer: p, answers: {a: p}}\n":               {"[2:18] answer and answers contradict each other", "only one of them"},
		"answers:\n  q: {timeout: 5}\n":                               {"[2:16] timeout must be true or false, and is a number", "timeout: true"},
		"answers:\n  q: {anser: x}\n":                                 {"[2:7] there is no field anser here", "did you mean answer?"},
		"expect:\n  steps: [a]\n":                                     {"[2:10] this must be an object, and is a list", ""},
		"expect:\n  sate: done\n":                                     {"[2:3] there is no field sate here", "did you mean state?"},
		"tool: {}\n":                                                  {"[1:1] there is no field tool here", "did you mean tools?"},
		"[a]\n":                                                       {"[1:1] this must be an object, and is a list", "tools:"},
	} {
		_, err := workflow.Simulate(t.Context(), []byte(source), []byte(script), nil)
		var refusal *fermata.Error
		if !errors.As(err, &refusal) || !strings.Contains(refusal.Message, want.message) || !strings.Contains(refusal.Hint, want.hint) {
			t.Errorf("%q:\n%v\nwant %s", script, err, want.message)
			if refusal != nil {
				t.Logf("hint %q", refusal.Hint)
			}
		}
		if err != nil && (strings.Contains(err.Error(), "interface {}") || strings.Contains(err.Error(), "unmarshal")) {
			t.Errorf("%q: the error talks of Go: %v", script, err)
		}
	}
}

// A script is read as strictly as a definition, and what a test makes up is read back as it was.
func TestNumbersOfAScriptAreReadAsTheyAre(t *testing.T) {
	t.Parallel()
	const source = "name: x\ntriggers: [{manual: true}]\nsteps: [{id: a, tool: shell, input: {command: [x]}, schema: {type: object, required: [n, m, t], properties: " +
		"{n: {type: integer, minimum: 2000000}, m: {type: number, minimum: 1.0e+21}, t: {const: \"1e6\"}, u: {const: '0X1f'}}}}]\n"
	_, err := workflow.Simulate(t.Context(), []byte(source), []byte("tools: {a: {output: {n: 2e6, m: 1, t: x}}}\n"), nil)
	if err == nil || !strings.Contains(err.Error(), "not every program reads 2e6 as the same number (write 2000000 for the number") {
		t.Errorf("the error is %v", err)
	}
	report, err := workflow.Simulate(t.Context(), []byte(source), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := workflow.Simulate(t.Context(), []byte(source), []byte(report.Script), nil); err != nil || len(again.Failures) > 0 || asJSON(again.Run.Steps[0].Output) != asJSON(report.Run.Steps[0].Output) {
		t.Errorf("%s: %v %s", report.Script, err, asJSON(again))
	}
}

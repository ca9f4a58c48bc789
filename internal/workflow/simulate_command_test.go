package workflow_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow"
)

const commandTest = `
name: plain
triggers: [{manual: true}]
steps:
  - {id: a, tool: TOOL, on_error: continue}
  - {id: b, tool: wait, condition: "steps.a.output != null", input: {for: 1s}}
`

// A command of a test gives the output that a real command with that exit code and that text gives.
func TestAScriptGivesTheOutputOfACommand(t *testing.T) {
	t.Parallel()
	const plain, withSchema = "shell, input: {command: [x]}", "shell, input: {command: [x]}, schema: {type: object, required: [n]}"
	const aText = "shell, input: {command: [x]}, schema: {type: string}"
	for _, tt := range []struct{ tool, outcome, want string }{
		{plain, `{exit_code: 0, output: "hi"}`, `{"exit_code":0,"output":"hi"}`},
		{plain, `{exit_code: 0, stdout: "hi", stderr: "oh"}`, `{"exit_code":0,"output":"hi"}`},
		{plain, `{exit_code: 0}`, `{"exit_code":0,"output":""}`},
		{plain, `{stdout: "hi"}`, `{"exit_code":0,"output":"hi"}`},
		{plain, `{output: "hi"}`, `{"exit_code":0,"output":"hi"}`},
		{plain, `{output: '{"n": 1}'}`, `{"exit_code":0,"output":"{\"n\": 1}"}`},
		{plain, `{output: {output: "hi"}}`, `{"exit_code":0,"output":"hi"}`},
		{plain, `{output: {exit_code: 0}}`, `{"exit_code":0,"output":""}`},
		{plain, `{output: {exit_code: 0, output: "hi", left_out: 7}}`, `{"exit_code":0,"left_out":7,"output":"hi"}`},
		{plain, `{output: {}}`, `{"exit_code":0,"output":""}`},
		{plain, `[]`, `{"exit_code":0,"output":""}`},
		{plain, `{output: {n: 1}}`, `{"n":1}`}, // the details of a result file
		{plain, `{exit_code: 3, output: "hi"}`, `{"code":"child_failed","message":"The program ended with exit status 3.\nhi","exit_code":3,"stdout":"hi"}`},
		{withSchema, `{output: {n: 1}}`, `{"n":1}`},
		{withSchema, `{exit_code: 0, stdout: '{"n": 1}'}`, `{"n":1}`},
		{withSchema, `{output: 'made {"n": 1}'}`, `{"n":1}`},
		{withSchema, `{output: {exit_code: 0, output: '{"n": 1}'}}`, `{"n":1}`},
		{withSchema, `{output: "hi"}`, `output_mismatch 0 "hi"`},
		{withSchema, `{output: {m: 1}}`, `output_mismatch 0 "{\"m\":1}"`},
		{aText, `{output: "\"hi\"\n"}`, `"hi"`},
		{aText, `{output: "said\n\"hi\"\n"}`, `"hi"`},
		{aText, `{exit_code: 0, stdout: '"hi"'}`, `"hi"`},
		{aText, `{output: hi}`, `output_mismatch 0 "hi"`},
		{aText, `{output: "42"}`, `output_mismatch 0 "42"`},
		{"shell, input: {command: [x]}, schema: {type: [string, 'null']}", `{output: "null"}`, `null`},
		{"shell, input: {command: [x]}, schema: {type: [string, 'null']}", `{output: null}`, `null`},
		{"shell, input: {command: [x]}, schema: {}", `{output: "[1]"}`, `[1]`},
		{"shell, input: {command: [x]}, schema: {}", `{output: hi}`, `output_mismatch 0 "hi"`},
		{"agent, input: {prompt: x}, schema: {type: string}", `{output: 'It is "hi"'}`, `output_mismatch null ""`},
		{"agent, input: {prompt: x}, schema: {type: string}", `{output: '"hi"'}`, `"hi"`},
		{"agent, input: {prompt: x}, schema: {type: [string, 'null']}", `{output: null}`, `null`},
		{"agent, input: {prompt: x}, schema: {type: object, required: [n]}", `{output: hi}`, `output_mismatch null ""`},
		{"shell, input: {command: [x]}, schema: {type: array}", `{output: [1, 2]}`, `[1,2]`},
		{"shell, input: {command: [x]}, schema: {type: object, required: [exit_code]}", `{exit_code: 0, output: "hi"}`, `{"exit_code":0,"output":"hi"}`},
		{"unknown_here", `{exit_code: 0, output: "hi"}`, `{"exit_code":0,"output":"hi"}`},
		{"agent, input: {prompt: x}", `{output: "hi"}`, `{"summary":"hi"}`},
		{"agent, input: {prompt: x}", `{output: [1]}`, `{"details":[1],"summary":""}`},
		{"agent, input: {prompt: x}, schema: {type: object, required: [n]}", `{output: 'I found {"n": 1}'}`, `{"n":1}`},
	} {
		source := strings.Replace(commandTest, "TOOL", tt.tool, 1)
		report, err := workflow.Simulate(t.Context(), []byte(source), []byte("tools: {a: "+tt.outcome+"}\n"), nil)
		if err != nil || report.Run == nil {
			t.Errorf("%s %s: %v %s", tt.tool, tt.outcome, err, asJSON(report))
			continue
		}
		a := report.Run.Steps[0]
		got := string(a.Output)
		switch {
		case a.Error != nil && a.Error.Code == "output_mismatch":
			got = "output_mismatch " + asJSON(a.Error.ExitCode) + " " + asJSON(a.Error.Stdout)
		case a.Error != nil:
			got = asJSON(a.Error)
		}
		if got != tt.want {
			t.Errorf("%s %s:\ngot  %s\nwant %s", tt.tool, tt.outcome, got, tt.want)
		}
	}
}

// A script that gives a step what its tool cannot give is refused, with the place and what to write.
func TestAScriptGivesNothingThatAToolCannotGive(t *testing.T) {
	t.Parallel()
	const plain = "shell, input: {command: [x]}"
	for _, tt := range []struct{ tool, outcome, message, hint string }{
		{plain, "{output: {exit_code: 3, output: x}}", "[1:13] the step a is a command, which fails with the exit code 3: this output is that of a success", "exit_code: 3, stdout: TEXT"},
		{plain, "{output: {exit_code: one}}", "[1:13] the exit_code in the output of the step a must be 0", ""},
		{plain, "{output: {output: [x]}}", "[1:13] the output in the output of the step a must be a text", ""},
		{plain, "{output: {output: x, left_out: x}}", "[1:13] the left_out in the output of the step a must be a whole number", ""},
		{plain, "[{}, {output: [1, 2]}]", "[1:18] the step a is a command without a schema, so its output is {exit_code, output}, and not a list", "stdout: TEXT"},
		{plain, "{output: null}", "[1:13] the step a is a command without a schema, so its output is {exit_code, output}, and not empty", "schema"},
		{plain, "{output: 5}", "[1:13] the step a is a command without a schema, so its output is {exit_code, output}, and not a number", "schema"},
		{plain, "{output: x, stdout: y}", "[1:24] output and stdout both say what the command of the step a prints", "only one of them"},
		{plain, "{exit_code: 3, output: {n: 1}}", "[1:27] a command that fails, as that of the step a, gives no output", "stdout: TEXT"},
		{"unknown_here", "{exit_code: 3, output: {n: 1}}", "[1:27] a command that fails", ""},
		{"agent, input: {prompt: x}", "{exit_code: 3}", "[1:13] the step a is no command, so it has no exit_code", "error: TEXT"},
		{"agent, input: {prompt: x}", "{error: {stderr: x}}", "[1:13] the step a is no command, so it has no stderr", "error: TEXT"},
		{"wait, input: {for: 1s}", "{stdout: x}", "[1:13] the step a is no command, so it has no stdout", "output: …"},
	} {
		source := strings.Replace(commandTest, "TOOL", tt.tool, 1)
		_, err := workflow.Simulate(t.Context(), []byte(source), []byte("tools: {a: "+tt.outcome+"}\n"), nil)
		var refusal *fermata.Error
		if !errors.As(err, &refusal) || !strings.Contains(refusal.Message, tt.message) || !strings.Contains(refusal.Hint, tt.hint) {
			t.Errorf("%s %s:\n%v\nwant %s", tt.tool, tt.outcome, err, tt.message)
			if refusal != nil {
				t.Logf("hint %q", refusal.Hint)
			}
		}
	}
}

// A test on a server knows which tools of the workspace are commands and which are agents.
func TestATestOnAServerKnowsTheCommandsOfTheWorkspace(t *testing.T) {
	onBoth(t, func(w *world) {
		for _, tool := range []*fermata.NamedTool{
			{Name: "make_all", Command: []string{"make"}},
			{Name: "look", Agent: &fermata.AgentTool{Prompt: "Look."}},
		} {
			_, err := w.s.PutNamedTool(w.Context(), admin, tool)
			w.OK(err)
		}
		const source = "name: plain\ntriggers: [{manual: true}]\nsteps:\n  - {id: a, tool: make_all}\n  - {id: b, tool: look}\n"
		for _, script := range []string{"", "tools: {make_all: {stdout: made up}, look: {output: made up}}\n"} {
			report, err := w.s.Simulate(w.Context(), admin, workflow.Trial{Source: source, Script: script})
			w.OK(err)
			if a, b := report.Run.Steps[0], report.Run.Steps[1]; !report.Passed || string(a.Output) != `{"exit_code":0,"output":"made up"}` || string(b.Output) != `{"summary":"made up"}` {
				w.Errorf("%q: %s", script, asJSON(report))
			}
		}
		_, err := w.s.Simulate(w.Context(), admin, workflow.Trial{Source: source, Script: "tools: {look: {exit_code: 1}}\n"})
		if err == nil || !strings.Contains(err.Error(), "the step b is no command") {
			w.Errorf("an exit code of an agent: %v", err)
		}
	})
}

// A command with a schema gives the same output and the same error in a test as on a server, whatever it prints.
func TestWhatACommandPrintsIsReadAsOnAServer(t *testing.T) {
	onBoth(t, func(w *world) {
		for _, schema := range []string{`{type: string}`, `{type: [string, "null"]}`, `{}`, `{type: number}`, `{type: object, required: [n]}`, `{type: object, required: [output]}`} {
			source := "name: plain\ntriggers: [{manual: true}]\nsteps: [{id: a, tool: shell, input: {command: [x]}, schema: " + schema + "}]\n"
			for _, printed := range []string{"\"x\"\n", "hello\n", "42", "null", "", "log\n{\"n\": 1}\n", "\"cut"} {
				run := w.run(source, nil)
				w.work(fermata.Finish{Result: fermata.ResultCompleted, Details: json.RawMessage(asJSON(map[string]any{"exit_code": 0, "output": printed, "stderr": "oh"}))})
				onServer := w.awaitEnd(run.ID).Steps[0]
				for _, field := range []string{"output", "stdout"} {
					script := asJSON(map[string]any{"tools": map[string]any{"a": map[string]any{field: printed, "stderr": "oh"}}})
					report, err := workflow.Simulate(w.Context(), []byte(source), []byte(script), nil)
					w.OK(err)
					if got, want := report.Run.Steps[0], onServer; got.State != want.State || string(got.Output) != string(want.Output) || asJSON(got.Error) != asJSON(want.Error) {
						w.Errorf("%s prints %q:\ntest   %s %s %s\nserver %s %s %s", schema, printed, got.State, got.Output, asJSON(got.Error), want.State, want.Output, asJSON(want.Error))
					}
				}
			}
		}
	})
}

// What an agent says is read as on a server, where the agent may be a command: the error is true of both.
func TestAnAgentWithoutJSONIsToldWhatToDo(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"agent, input: {prompt: x}", "unknown_here"} {
		source := "name: x\ntriggers: [{manual: true}]\nsteps: [{id: a, tool: " + tool + ", schema: {type: string}}]\n"
		report, err := workflow.Simulate(t.Context(), []byte(source), []byte("tools: {a: {output: hello}}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		e := report.Run.Steps[0].Error
		if e == nil || e.Code != "output_mismatch" || !strings.Contains(e.Message, "no JSON was found in what the task gave") ||
			!strings.Contains(e.Hint, "say in the prompt") || !strings.Contains(e.Hint, "a command prints the result as JSON on standard output") {
			t.Errorf("%s: %s", tool, asJSON(e))
		}
	}
}

// A text that is made up for a schema is saved as what the command prints or the agent says.
func TestAMadeUpTextIsSavedAsItIsPrinted(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"shell, input: {command: [x]}", "agent, input: {prompt: x}", "unknown_here"} {
		for _, schema := range []string{"{type: string}", "{type: 'null'}", "{type: integer}"} {
			source := []byte("name: x\ntriggers: [{manual: true}]\nsteps: [{id: a, tool: " + tool + ", schema: " + schema + "}]\n")
			made, err := workflow.Simulate(t.Context(), source, nil, nil)
			if err != nil || !made.Passed {
				t.Fatalf("%s %s: %v %s", tool, schema, err, asJSON(made))
			}
			again, err := workflow.Simulate(t.Context(), source, []byte(made.Script), nil)
			if err != nil || !again.Passed || string(again.Run.Steps[0].Output) != string(made.Run.Steps[0].Output) {
				t.Errorf("%s %s: %v %s\n%s", tool, schema, err, asJSON(again), made.Script)
			}
		}
	}
}

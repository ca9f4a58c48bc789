package workflow_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// TestExamples runs every example with each of its scripts, as its authors would.
func TestExamples(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"autofix", "release-approval", "data-fix", "nightly-report", "test-and-mend", "parallel-review"} {
		folder := filepath.Join("../../examples", name)
		source, err := os.ReadFile(filepath.Join(folder, name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		scripts := 0
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			script, err := os.ReadFile(filepath.Join(folder, entry.Name()))
			if err != nil || !strings.Contains(string(script), "\nexpect:\n") {
				continue
			}
			scripts++
			t.Run(name+"/"+entry.Name(), func(t *testing.T) {
				t.Parallel()
				report, err := workflow.Simulate(t.Context(), source, script, nil)
				if err != nil {
					t.Fatal(err)
				}
				if !report.Passed {
					t.Fatalf("%s\n%s", asJSON(report.Problems), strings.Join(report.Failures, "\n"))
				}
			})
		}
		if scripts == 0 {
			t.Errorf("%s has no script", name)
		}
	}
}

func TestScriptsThatFail(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ script, want string }{
		"no answer":    {"inputs: {issue: 1}\ntools: {analyze: {output: {confidence: 1, uncertainQuestion: Q, suggestedOptions: [a, b]}}}", "the script has no answer"},
		"expectation":  {"inputs: {issue: 1}\ntools: {analyze: {output: {confidence: 90, defaultApproach: x}}}\nexpect: {steps: {apply_fix: skipped}}", "the step apply_fix is done, expected skipped"},
		"wrong answer": {"inputs: {issue: 1}\ntools: {analyze: {output: {confidence: 1, uncertainQuestion: Q, suggestedOptions: [a, b]}}}\nanswers: {check_confidence: c}", "is refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, err := workflow.Simulate(t.Context(), []byte(autofix), []byte(tt.script), nil)
			if err != nil {
				t.Fatal(err)
			}
			if report.Passed || !strings.Contains(strings.Join(report.Failures, "\n"), tt.want) {
				t.Fatalf("passed %v: %v", report.Passed, report.Failures)
			}
		})
	}
}

// A script entry that nothing would read is refused, and the error names the entry.
func TestScriptsThatWouldNotBeRead(t *testing.T) {
	t.Parallel()
	for script, field := range map[string]string{
		"unknown: 1":                                   "unknown",
		"tools: {analize: {output: 1}}":                "tools.analize",
		"answers: {chek_confidence: a}":                "answers.chek_confidence",
		"expect: {steps: {aply_fix: done}}":            "expect.steps.aply_fix",
		"expect: {input: {aply_fix: {}}}":              "expect.input.aply_fix",
		"expect: {output: {aply_fix: {}}}":             "expect.output.aply_fix",
		"expect: {asked: {chek_confidence: Which?}}":   "expect.asked.chek_confidence",
		"inputs: {issue: 1}\npolicy: {min_timout: 1m}": "policy.min_timout",
	} {
		_, err := workflow.Simulate(t.Context(), []byte(autofix), []byte(script), nil)
		if fermata.CodeOf(err) != fermata.CodeInvalidRequest || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", script, err)
		}
	}
}

// A workflow is tested under the policy in its script.
func TestScriptsHaveAPolicy(t *testing.T) {
	t.Parallel()
	const source = `
name: short
triggers: [{manual: true}]
steps:
  - {id: ask, tool: post_question, suspend: true, input: {question: "Ship?", options: [a, b], timeout: 1m}}
`
	for policy, passes := range map[string]bool{"": false, "policy: {min_timeout: 1m}\n": true} {
		report, err := workflow.Simulate(t.Context(), []byte(source), []byte(policy+"answers: {ask: a}\nexpect: {state: done}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if report.Passed != passes {
			t.Errorf("%q: passed is %v: %v", policy, report.Passed, report.Failures)
		}
	}
}

// A script can state expectations about the steps at the end of a run. That includes the step that comments on the
// issue, which no file contains.
func TestScriptsExpectWhatIsDoneAtTheEnd(t *testing.T) {
	t.Parallel()
	const source = "name: x\ntriggers: [{manual: true}]\ninputs: {issue: {type: number}}\nsteps: [{id: build, tool: shell, input: {run: make}}]\n"
	const script = "inputs: {issue: 12}\ntools: {build: {error: no rule}}\nexpect: {state: failed, "
	for name, c := range map[string]struct{ source, expect string }{
		"steps":   {source + "on_failure: [{id: tell, tool: notify, input: {title: \"{{ failure.step }}: {{ failure.message }}\"}}]\n", "steps: {tell: done}, input: {tell: {title: \"build: no rule\"}}}"},
		"comment": {source, "steps: {on_failure.comment: done}}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, err := workflow.Simulate(t.Context(), []byte(c.source), []byte(script+c.expect), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !report.Passed {
				t.Fatalf("%s\n%s", asJSON(report.Problems), strings.Join(report.Failures, "\n"))
			}
		})
	}
}

// TestAScriptIsMadeUp runs definitions without a script. The made-up values form a script that gives the same result.
func TestAScriptIsMadeUp(t *testing.T) {
	t.Parallel()
	source := []byte(`
name: everything
triggers: [{manual: true}]
inputs:
  issue: {type: number, required: true}
  kind: {type: string, required: true, enum: [bug, feature]}
  more: {type: object}
steps:
  - {id: look, tool: agent, input: {prompt: "Look"}, output: seen,
     schema: {type: object, required: [sure, names, how], properties: {sure: {type: integer, minimum: 5}, names: {type: array, minItems: 2, items: {type: string, minLength: 30}}, how: {enum: [fast, slow]}, why: {type: [string, "null"]}}}}
  - {id: list, tool: shell, input: {run: ls}}
  - {id: choice, tool: post_question, suspend: true, input: {question: "Which?", options: [a, b]}}
  - {id: many, tool: post_question, suspend: true, input: {question: "Which?", options: [a, b, c], responseType: multi_choice}}
  - {id: sure, tool: post_question, suspend: true, input: {question: "Sure?", responseType: boolean}}
  - {id: text, tool: post_question, suspend: true, input: {question: "How?"}}
  - {id: default, tool: post_question, suspend: true, input: {question: "Which?", options: [a, b], default: b}}
  - id: several
    tool: post_question
    suspend: true
    input:
      title: Several
      items:
        - {key: count, prompt: "How many?", response_type: number, min: 3}
        - {key: day, prompt: "When?", response_type: date}
        - {key: text, prompt: "What?", min_length: 20}
  - {id: each, tool: post_question, suspend: true, foreach: "{{ seen.names }}", input: {question: "{{ item }}?", options: [x, y]}}
  - {id: yes, tool: request_approval, input: {title: "Go?", action: {tool: deploy}, approvals: {required: 2}}}
`)
	made, err := workflow.Simulate(t.Context(), source, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !made.Passed || made.Script == "" {
		t.Fatalf("%s\n%s\n%s", asJSON(made.Problems), strings.Join(made.Failures, "\n"), made.Script)
	}
	again, err := workflow.Simulate(t.Context(), source, []byte(made.Script), nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, made.Script)
	}
	if !again.Passed || again.Script != "" || len(again.Run.Steps) != len(made.Run.Steps) {
		t.Fatalf("%s\n%s", strings.Join(again.Failures, "\n"), made.Script)
	}
	for i, step := range again.Run.Steps {
		if first := made.Run.Steps[i]; step.Step != first.Step || step.State != first.State || step.Step == "look" && string(step.Output) != string(first.Output) {
			t.Errorf("the step %s is %s: %s; it was %s: %s", step.Step, step.State, step.Output, first.State, first.Output)
		}
	}
}

// TestWhatIsMadeUpMayFail checks the report of a run that needs more than made-up values.
func TestWhatIsMadeUpMayFail(t *testing.T) {
	t.Parallel()
	made, err := workflow.Simulate(t.Context(), []byte(autofix), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if made.Passed || !strings.Contains(strings.Join(made.Failures, "\n"), "expected done") || !strings.Contains(made.Script, "analyze:") {
		t.Fatalf("%+v", made)
	}
}

// The schema names the keys of a script, so that editors can complete them.
func TestTheSchemaNamesTheKeysOfAScript(t *testing.T) {
	t.Parallel()
	var schema struct {
		Names struct {
			Script []string `json:"script"`
			Expect []string `json:"expect"`
		} `json:"x-names"`
	}
	if err := json.Unmarshal(definition.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of   reflect.Type
		want []string
	}{
		{reflect.TypeFor[workflow.Script](), schema.Names.Script},
		{reflect.TypeFor[workflow.Expectation](), schema.Names.Expect},
	} {
		var keys []string
		for field := range c.of.Fields() {
			if key := field.Tag.Get("yaml"); key != "" {
				keys = append(keys, key)
			}
		}
		if slices.Sort(keys); !slices.Equal(keys, slices.Sorted(slices.Values(c.want))) {
			t.Errorf("%s has the keys %s, and the schema names %s", c.of, keys, c.want)
		}
	}
}

// Numbers in a script count like numbers of a person: a whole number is accepted as one.
func TestAScriptAnswersWithNumbers(t *testing.T) {
	t.Parallel()
	const source = `
name: numbers
triggers: [{manual: true}]
steps:
  - {id: one, tool: post_question, suspend: true, input: {question: "How many?", responseType: number, timeout: 1h, timeoutAction: fail}}
  - id: two
    tool: post_question
    suspend: true
    input: {items: [{key: n, prompt: "How many?", response_type: number}, {key: why, prompt: "Why?"}], timeout: 1h, timeoutAction: fail}
`
	for name, answers := range map[string]string{
		"plain":     "{one: 4, two: {answers: {n: 4, why: so}}}",
		"as a map":  "{one: {answer: 4}, two: {answers: {n: 4, why: so}}}",
		"as a list": "{one: [4], two: [{answers: {n: 4, why: so}}]}",
	} {
		report, err := workflow.Simulate(t.Context(), []byte(source), []byte("answers: "+answers+"\nexpect: {state: done}\n"), nil)
		if err != nil || !report.Passed {
			t.Errorf("%s: %v %+v", name, err, report)
		}
	}
	made, err := workflow.Simulate(t.Context(), []byte(source), nil, nil)
	if err != nil || !made.Passed {
		t.Fatalf("%v %+v", err, made)
	}
	again, err := workflow.Simulate(t.Context(), []byte(source), []byte(made.Script), nil)
	if err != nil || !again.Passed {
		t.Errorf("what was made up is not taken: %v %+v\n%s", err, again, made.Script)
	}
	_, err = workflow.Simulate(t.Context(), []byte(source), []byte("answers: {one: .nan, two: {answers: {n: 4, why: so}}}\n"), nil)
	if fermata.CodeOf(err) != fermata.CodeInvalidRequest {
		t.Errorf("not a number: %v", err)
	}
}

// A test without a server knows the tools that every server has. Storing a definition knows the same tools.
func TestATestKnowsTheToolsOfServers(t *testing.T) {
	t.Parallel()
	tools := []tool.Info{{
		Name: "fetch", Input: []byte(`{"type": "object", "required": ["url"], "properties": {"url": {"type": "string"}}, "additionalProperties": false}`),
		Output: []byte(`{"type": "object", "properties": {"status": {"type": "integer"}}, "required": ["status"]}`),
	}}
	const source = `
name: fetches
triggers: [{manual: true}]
steps:
  - {id: get, tool: fetch, output: got, input: {URL: "https://x.example"}}
  - {id: then, tool: shell, condition: "got.status == 1", input: {command: [echo]}}
`
	wrong, err := workflow.Simulate(t.Context(), []byte(strings.Replace(source, "URL", "urll", 1)), nil, tools)
	if err != nil || wrong.Passed || len(wrong.Problems) == 0 {
		t.Errorf("a wrong input: %v %+v", err, wrong)
	}
	right, err := workflow.Simulate(t.Context(), []byte(strings.Replace(source, "URL", "url", 1)), nil, tools)
	if err != nil || !right.Passed || len(right.Run.Steps) != 2 || right.Run.Steps[1].State != fermata.StepDone {
		t.Errorf("a made up output: %v %+v", err, right)
	}
}

// The entries of a list belong to the items in their order, although a server calls items in parallel.
func TestAScriptTellsItemsInTheirOrder(t *testing.T) {
	t.Parallel()
	const source = `
name: items
triggers: [{manual: true}]
steps:
  - {id: each, tool: shell, foreach: [p, q, r, s, t, u], parallel: 3, on_error: continue, input: {command: [echo, "{{ item }}"]}}
`
	for range 5 {
		report, err := workflow.Simulate(t.Context(), []byte(source), []byte(`
tools: {each: [{output: {output: p}}, {output: {output: q}}, {output: {output: r}}, {output: {output: s}}, {exit_code: 1}, {output: {output: u}}]}
`), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range report.Run.Steps {
			if step.Item == nil {
				continue
			}
			want := fermata.StepDone
			if *step.Item == 4 {
				want = fermata.StepFailed
			}
			if step.State != want || want == fermata.StepDone && !strings.Contains(string(step.Output), `"`+string("pqrstu"[*step.Item])+`"`) {
				t.Errorf("the item %d is %s with %s", *step.Item, step.State, step.Output)
			}
		}
	}
}

// A script that does not write the expected state expects the run to be done, as a test without a script does.
func TestAScriptWithoutAStateExpectsTheEnd(t *testing.T) {
	t.Parallel()
	const source = "name: plain\ntriggers: [{manual: true}]\nsteps: [{id: a, tool: shell, input: {command: [make]}}]\n"
	for script, passed := range map[string]bool{
		"tools: {a: {exit_code: 1}}\n":                                              false,
		"tools: {a: {output: {exit_code: 0}}}\n":                                    true,
		"tools: {a: {exit_code: 1}}\nexpect: {state: failed}\n":                     true,
		"tools: {a: {exit_code: 1}}\nexpect: {steps: {a: failed}}\n":                false,
		"tools: {a: {exit_code: 1}}\nexpect: {reason: step_failed}\n":               false,
		"tools: {a: {exit_code: 1}}\nexpect: {input: {a: {command: [make]}}}\n":     false,
		"tools: {a: {exit_code: 1}}\nexpect: {state: failed, steps: {a: failed}}\n": true,
	} {
		report, err := workflow.Simulate(t.Context(), []byte(source), []byte(script), nil)
		if err != nil || report.Passed != passed {
			t.Errorf("%s: %v %+v", script, err, report)
		}
	}
}

// An answer for a step that asks nobody is refused. Otherwise its author would believe that a person was asked.
func TestAScriptAnswersNoStepThatAsksNobody(t *testing.T) {
	t.Parallel()
	const source = "name: plain\ntriggers: [{manual: true}]\nsteps:\n  - {id: a, tool: shell, input: {command: [make]}}\n  - {id: b, tool: shell, on_error: ask, input: {command: [make]}}\n"
	_, err := workflow.Simulate(t.Context(), []byte(source), []byte("answers: {a: x, b: {answers: {action: retry}}}\n"), nil)
	if err == nil || !strings.Contains(err.Error(), "answers.a: is a step that asks nobody") || strings.Contains(err.Error(), "answers.b") {
		t.Errorf("got %v", err)
	}
}

// The error of a script names the line and the column of the mistake.
func TestAMistakeInAScriptIsShownWhereItStands(t *testing.T) {
	t.Parallel()
	const source = "name: plain\ntriggers: [{manual: true}]\nsteps:\n  - {id: a, tool: shell, input: {command: [make]}}\n  - {id: q, tool: post_question, suspend: true, input: {question: Go?}}\n"
	for script, place := range map[string]string{
		"tools:\n  a:\n    outputt: x\n":                "[3:5]",
		"tools:\n  a:\n    - output: x\n    - err: x\n": "[4:7]",
		"answers:\n  q:\n    anser: x\n":                "[3:5]",
		"expect:\n  sate: done\n":                       "[2:3]",
	} {
		if _, err := workflow.Simulate(t.Context(), []byte(source), []byte(script), nil); err == nil || !strings.Contains(err.Error(), place) {
			t.Errorf("%q: %v, want the place %s", script, err, place)
		}
	}
}

// A condition reads the same text of a failed command in a test as on a server.
func TestAFailedCommandIsToldAsOnAServer(t *testing.T) {
	t.Parallel()
	const source = `
name: plain
triggers: [{manual: true}]
steps:
  - {id: a, tool: shell, on_error: continue, input: {command: [make]}, output: a}
  - {id: b, tool: shell, condition: "steps.a.error.message == inputs.text", input: {command: [echo]}}
inputs: {text: {type: string}}
`
	for outcome, text := range map[string]string{
		`{exit_code: 4, stderr: "disk full"}`:                          `The program ended with exit status 4.\ndisk full`,
		`{exit_code: 4, stderr: "\n disk\n\nfull \n", stdout: "made"}`: `The program ended with exit status 4.\ndisk\nfull`,
		`{exit_code: 4, stdout: "made"}`:                               `The program ended with exit status 4.\nmade`,
		`{exit_code: 4}`:                                               `The program ended with exit status 4.`,
		`{exit_code: 4, error: "disk full"}`:                           `disk full`,
	} {
		script := "inputs: {text: \"" + text + "\"}\ntools: {a: " + outcome + ", b: {output: {}}}\nexpect: {steps: {b: done}}\n"
		report, err := workflow.Simulate(t.Context(), []byte(source), []byte(script), nil)
		if err != nil || !report.Passed {
			t.Errorf("%s: %v %s", outcome, err, asJSON(report))
		}
	}
}

// A made-up output fits the schema of its step.
func TestWhatIsMadeUpFitsTheSchema(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		`{type: object, required: [a, b], properties: {b: {type: boolean}}}`,
		`{required: [a]}`,
		`{type: object, required: [a], properties: {a: true}}`,
		`{type: object, required: [a], additionalProperties: {type: integer}}`,
		`{type: object, required: [a_b], patternProperties: {"^a_": {type: boolean}}, additionalProperties: false}`,
		`{type: object, required: [list], properties: {list: {type: array, minItems: 1, items: {type: object, required: [x]}}}}`,
		`{type: string, maxLength: 3}`,
		`{type: number, minimum: 0.2, maximum: 0.8}`,
	} {
		source := "name: plain\ntriggers: [{manual: true}]\nsteps: [{id: a, tool: agent, input: {prompt: Look}, schema: " + schema + "}]\n"
		report, err := workflow.Simulate(t.Context(), []byte(source), nil, nil)
		if err != nil || !report.Passed {
			t.Errorf("%s: %v %s", schema, err, asJSON(report))
		}
	}
}

// A script accepts the same answers as fermata respond. For a question with several items, a single answer belongs to
// the required item.
func TestAScriptAnswersWithTheWordsOfRespond(t *testing.T) {
	t.Parallel()
	const source = `
name: plain
triggers: [{manual: true}]
steps:
  - {id: a, tool: shell, on_error: ask, input: {command: [make]}}
  - {id: q, tool: post_question, suspend: true, condition: "steps.a.status == 'done'", input: {question: "Sure?", responseType: boolean}}
`
	for answer, want := range map[string]string{
		`retry`: "a: done", `Try again`: "a: done", `{answer: retry, comment: again}`: "a: done", `[retry]`: "a: done", `skip`: "a: skipped",
		`{answers: {action: retry_with_input, input: {command: [x]}}}`: "a: done", `{answers: {action: retry_with_input, input: '{"command":["x"]}'}}`: "a: done",
	} {
		script := "tools: {a: [{exit_code: 1}, {output: {}}]}\nanswers: {a: " + answer + ", q: yes}\nexpect: {state: done, steps: {" + want + "}}\n"
		report, err := workflow.Simulate(t.Context(), []byte(source), []byte(script), nil)
		if err != nil || !report.Passed {
			t.Errorf("%s: %v %s", answer, err, asJSON(report))
		}
	}
	for answer, failure := range map[string]string{
		"abort": "", "again": `"again" is not an option`, "retry_with_input": "has no input",
	} {
		script := "tools: {a: [{exit_code: 1}]}\nanswers: {a: " + answer + "}\nexpect: {state: failed}\n"
		report, err := workflow.Simulate(t.Context(), []byte(source), []byte(script), nil)
		if err != nil || report.Passed != (failure == "") || !strings.Contains(strings.Join(report.Failures, "\n"), failure) {
			t.Errorf("%s: %v %s", answer, err, asJSON(report.Failures))
		}
	}
}

// A test ends although its answers lead to the same question for ever.
func TestAScriptThatAnswersForEver(t *testing.T) {
	t.Parallel()
	const source = "name: plain\ntriggers: [{manual: true}]\nsteps: [{id: a, tool: shell, on_error: ask, input: {command: [make]}}]\n"
	report, err := workflow.Simulate(t.Context(), []byte(source), []byte("tools: {a: {exit_code: 1}}\nanswers: {a: {answers: {action: retry}}}\n"), nil)
	if err != nil || report.Passed || !strings.Contains(strings.Join(report.Failures, "\n"), "asked 50 times") {
		t.Errorf("%v %s", err, asJSON(report))
	}
}

// A test that ends in another state says in which, and why.
func TestAnotherEndIsToldInASentence(t *testing.T) {
	t.Parallel()
	const source = `
name: plain
triggers: [{manual: true}]
confidence: {ask: 50}
steps:
  - {id: a, tool: shell, input: {command: [make]}}
  - {id: q, tool: post_question, suspend: true, input: {question: "Which?", options: [x, y], confidence: "{{ steps.a.output.sure }}"}}
`
	for script, want := range map[string]string{
		"tools: {a: {exit_code: 1}}":                                                 "expected done, but the run is failed: The step a failed: The program ended with exit status 1.",
		"tools: {a: {output: {sure: 60}}}":                                           "expected done, but the run waits at the step q (awaiting_input)",
		"tools: {a: {output: {sure: 20}}}":                                           "expected done, but the run is skipped: confidence_below_policy",
		"tools: {a: {output: {sure: 60}}}\nanswers: {q: x}\nexpect: {state: failed}": "expected failed, but the run is done: 2 of 2 steps done.",
	} {
		report, err := workflow.Simulate(t.Context(), []byte(source), []byte(script+"\n"), nil)
		if err != nil || report.Passed || report.Failures[len(report.Failures)-1] != want {
			t.Errorf("%s: %v %q", script, err, report.Failures)
		}
	}
}

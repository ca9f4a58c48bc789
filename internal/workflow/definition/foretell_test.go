package definition_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// foretelling describes a server with a tool that has rules beyond its schema.
var foretelling = func() definition.Catalog {
	c := known
	c.Tools = maps.Clone(known.Tools)
	c.Tools["fetch"] = tool.Info{
		Name:  "fetch",
		Input: json.RawMessage(`{"type": "object", "additionalProperties": false, "properties": {"url": {"type": "string"}, "n": {"type": "integer"}, "labels": {"type": "array", "items": {"type": "string"}}, "any": {"anyOf": [{"type": "string"}, {"type": "number"}]}}}`),
		Check: func(input map[string]any) error {
			if input["url"] != nil && input["url"] != "https://example.com" {
				return fermata.Invalid(fermata.Problem{Field: "url", Message: "is no address"}).WithHint("write https://example.com")
			}
			return nil
		},
	}
	return c
}()

const inputsOfAllTypes = "inputs: {b: {type: boolean, default: true}, o: {type: object, required: true}, s: {type: string, default: x}, n: {type: number, default: 1}, may: {type: object}}\n"

// What is certain to fail in a run is reported before it. A definition that is stored already is not refused for it.
func TestWhatFailsInEveryRunIsReported(t *testing.T) {
	t.Parallel()
	const b = "  - id: b\n    tool: fetch\n    input: {url: "
	tests := []struct {
		name, source string
		want         []string
	}{
		{"an operation on constants", start + b + "\"{{ 1 + 'a' }}\"}\n", []string{"8:24|1 is a number and \"a\" is a text: they|string("}},
		{"numbers that readers dispute", start + step + "    input:\n      url: x\n      a: 1e6\n      b: [5E3, 1e21, 1e-3, 1e-9]\n      c: {d: +1e6, e: 0X1f, f: 12:30, g: +.inf}\n", []string{
			"10:10|not every program reads 1e6 as the same number|write 1000000 for the number, or \"1e6\" for the text", "11:11|5E3|write 5000", "11:16|1e21|write 1.0e+21 for", "11:22|1e-3|write 0.001", "11:28|1e-9|write 1.0e-09",
			"12:14|+1e6|write 1000000", "12:23|not every program reads 0X1f|quote the text: \"0X1f\"", "12:32|12:30|quote", "12:42|+.inf|quote",
		}},
		{"a key that is a disputed number", start + step + "    input:\n      url: x\n      1e6: x\n", []string{"10:7|a key must be a text|\"1e6\""}},
		{"a constant that is too large", start + b + "\"{{ done.n + 9223372036854775807 * 2 }} {{ done.n % 0 }}\"}\n", []string{"8:51|9223372036854775807 * 2 is too large for a whole number|float("}},
		{"a call with a constant", start + b + "\"{{ done.x }} {{ len(5) }} {{ upper(done.x + date('soon')) }}\"}\n", []string{"8:35|5 is a number, and a text, a list|", "8:63|\"soon\" is no date|2026-11-22"}},
		{"constants that may be meant", start + b + "\"x{{ [][0] ?? 1 }}{{ len([1]) }}{{ 1..100000 | len() }}{{ done.n / 2 }}{{ now() + duration('1h') }}\"}\n", nil},
		{"a status that is none", start + step + "    condition: steps.a.status == 'complete' || 'fail' != steps.a.status || steps.a.status in ['done', 'ok'] || steps.a?.status == 'pending'\n", []string{
			"8:34|steps.a.status is never \"complete\"|there are pending, running, waiting, done", "8:48|never \"fail\"|there are", "8:103|never \"ok\"|",
		}},
		{"a state of a failure that is none", start + "on_failure:\n  - {id: f, tool: run_checks, condition: failure.state == 'cancelled'}\n", []string{"7:59|failure.state is never \"cancelled\"|there are failed, skipped"}},
		{"names that no trigger has", start + step + "    condition: trigger.bye == 1 || trigger.issue == 1 || trigger.type == 'label'\n", []string{"8:16|trigger has no bye|", "8:74|trigger.type is never \"label\"|there are deployment"}},
		{"names of other triggers in the entry of one", "triggers:\n  - manual: true\n    if: trigger.by == 'x' && trigger.lable == 'x'\n  - schedule: \"0 3 * * *\"\n    if: trigger.label == 'x'\n" + start, []string{
			"3:30|trigger has no lable|", "5:9|a trigger of the type schedule has no label|there are type, at|warning",
		}},
		{"names that a command does not give", start + "  - id: b\n    tool: shell\n    input: {command: [x]}\n    output: said\n  - id: c\n    tool: run_checks\n    condition: steps.b.output.otput == 'x' && said.exit_code == 0 && said.left_out == 1 && said.count == 3\n", []string{
			"12:16|has no otput, unless the command reports it|did you mean output?|warning", "12:92|has no count|schema|warning",
		}},
		{"names that an answer does not have", start + ask + step + "    condition: steps.q.output.anser == 'x' && steps.q.output.by == 'x'\n", []string{"12:16|output of q has no anser|did you mean answer?"}},
		{"a rule of the tool", start + b + "tomorrow}\n", []string{"8:18|is no address|write https://example.com"}},
		{"a rule on a value that is not known", start + b + "\"{{ done.url }}\"}\n", nil},
		{"inputs of another type", inputsOfAllTypes + start + b + "\"{{ inputs.o }}\", n: \"{{ inputs.s }}\", labels: [\"{{ inputs.b }}\", \"{{ inputs.s }}\", \"{{ len(done) }}\"], any: \"{{ [1] }}\"}\n", []string{
			"9:18|must be a text, and inputs.o is an object|{{ toJSON(inputs.o) }}", "9:39|must be a whole number, and inputs.s is a text|", "9:66|must be a text, and inputs.b is true or false|{{ string(inputs.b) }}",
			"9:102|must be a text, and len(done) is a number|", "9:127|must be a text or a number, and [1] is a list|{{ toJSON([1]) }}",
		}},
		{"inputs of a type that fits, or that may be null", inputsOfAllTypes + start + b + "\"{{ inputs.s }}\", n: \"{{ inputs.n }}\", labels: \"{{ inputs.may }}\", any: \"{{ inputs.n }}\"}\n", nil},
		{"time limits of what has none", start + "  - {id: b, tool: workflow, timeout: 5s, input: {name: y}}\n  - {id: c, tool: post_question, timeout: 5s, input: {question: x, options: [y], default: y}}\n  - {id: d, tool: wait, input: {for: 1s}, timeout: 5s}\n", []string{"6:29|workflow has no time limit|each step of the other workflow", "7:34|post_question has no time limit|move it into input", "8:43|wait has no time limit|remove it"}},
		{"arguments of a command", inputsOfAllTypes + start + "  - {id: b, tool: shell, input: {command: [x, \"{{ inputs.b }}\", \"{{ inputs.n }}\", \"{{ inputs.o }}\", true]}}\n", []string{"7:83|must be a text, a number or true or false, and inputs.o is an object|toJSON"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			source := tt.source
			if !strings.HasPrefix(source, "triggers:") {
				source += "triggers: []\n"
			}
			_, problems := definition.Load([]byte(source), foretelling)
			for i, p := range problems {
				if i >= len(tt.want) || !hasProblem(p, tt.want[i]) {
					t.Errorf("problem %d is %s", i, p)
				}
			}
			if len(problems) < len(tt.want) {
				t.Errorf("missing: %v", tt.want[len(problems):])
			}
			stored := foretelling
			stored.WasChecked = true
			if w, problems := definition.Load([]byte(tt.source), stored); w == nil {
				t.Errorf("a stored definition is refused: %v", problems)
			}
		})
	}
}

// An unknown function hides nothing else of its text.
func TestAnUnknownFunctionHidesNothing(t *testing.T) {
	t.Parallel()
	_, problems := loadWithoutNote(start + step + "    input: {a: \"{{ uper('x') }} {{ item }} {{ inputs.nope }} {{ pendingQuestion.answer }} {{ uper(inputs.gone) }}\"}\n    condition: \"{{ uper(doen) == lenn(doin) }}\"\n")
	want := []string{
		"8:20|no function uper|did you mean upper?", "8:36|item can be used only in the input of a step|", "8:47|there is no input nope|", "8:65|pendingQuestion can be used only in inject|",
		"8:94|no function uper|", "8:99|there is no input gone|",
		"9:20|no function uper|", "9:25|doen is not known|", "9:34|no function lenn|", "9:39|doin is not known|",
	}
	for i, p := range problems {
		if i >= len(want) || !hasProblem(p, want[i]) {
			t.Errorf("problem %d is %s", i, p)
		}
	}
	if len(problems) < len(want) {
		t.Errorf("missing: %v", want[len(problems):])
	}
}

// The messages of common slips say what to write.
func TestSlipsSayWhatToWrite(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		start + step + "    condition: done.x ==\n":                                                "8:24|unexpected token EOF|a value is missing at its end",
		start + step + "    condition: upper(done.x\n":                                             "8:27|unexpected token EOF|a bracket or a quote is not closed",
		start + step + "    foreach: 7\n":                                                          "8:14|must be a text or a list, and is 7|write a list, such as [a, b]",
		start + "  - {id: b, tool: shell, input: {command: []}}\n":                                 "6:43|has 0, and needs at least 1|add what is missing",
		start + "on_failure: nope\n":                                                               "6:13|must be a list of steps or none, and is the text \"nope\"|on_failure: none",
		start + step + "    input: {a: \"{{ join([null], ',') }}\", b: \"{{ split('a', 1) }}\"}\n": "8:20|an element of [null] is null|filter([null], # != null)",
	} {
		_, problems := loadWithoutNote(source)
		if len(problems) == 0 || !hasProblem(problems[0], want) {
			t.Errorf("%s: %v", want, problems)
		}
	}
}

// A rule that a field breaks is reported beside the mistakes in other fields of the same input, and once.
func TestARuleIsReportedBesideOtherMistakes(t *testing.T) {
	t.Parallel()
	_, problems := definition.Load([]byte("triggers: []\n"+start+"  - id: b\n    tool: fetch\n    input: {url: tomorrow, n: [x], mor: 1}\n"), foretelling)
	for i, want := range []string{"9:18|is no address|", "9:31|must be a whole number|", "9:36|no field mor|"} {
		if len(problems) != 3 || !hasProblem(problems[i], want) {
			t.Fatalf("got %v", problems)
		}
	}
}

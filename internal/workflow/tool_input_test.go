package workflow_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow"
)

// An argument of a command may be a text, a number or a boolean. It is written as in a text.
func TestArgumentsOfACommand(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(`
name: args
triggers: [{manual: true}]
inputs: {dry: {type: boolean, default: true}}
steps:
  - {id: a, tool: shell, input: {command: [x, "{{ inputs.dry }}", "{{ !inputs.dry }}", "{{ 3000001 / 2 }}", 7, false]}}
`, nil)
		var spec struct {
			Command []string `json:"command"`
		}
		w.OK(json.Unmarshal(w.work(fermata.Finish{Result: fermata.ResultCompleted}).Spec, &spec))
		if got := strings.Join(spec.Command, " "); got != "x true false 1500000.5 7 false" {
			w.Errorf("the command is %s", got)
		}
		w.await(run.ID, fermata.TaskDone)
	})
}

// A value that is no argument of a command is refused, with the way to write it.
func TestRefusedArgumentsSayTheRemedy(t *testing.T) {
	t.Parallel()
	const source = "name: x\ntriggers: [{manual: true}]\ninputs: {v: {type: VALUE}}\nsteps: [{id: a, tool: shell, input: {command: [x, \"{{ inputs.v ?? null }}\"]}}]\n"
	for kind, want := range map[string]struct{ script, message, hint string }{
		"string": {"inputs: {}", "command[1]: got null, want boolean or number or string", `{{ … ?? "" }}`},
		"object": {"inputs: {v: {a: 1}}", "command[1]: got object,", "{{ toJSON(…) }}"},
		"array":  {"inputs: {v: [1]}", "command[1]: got array,", "{{ toJSON(…) }}"},
	} {
		report, err := workflow.Simulate(t.Context(), []byte(strings.Replace(source, "VALUE", kind, 1)), []byte(want.script+"\ntools: {a: {output: {}}}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		e := report.Run.Steps[0].Error
		if e == nil || e.Code != "input_error" || !strings.Contains(e.Message, want.message) || !strings.Contains(e.Hint, want.hint) {
			t.Errorf("%s: %s", kind, asJSON(e))
		}
	}
}

// An item whose input the tool does not take fails alone, on a server and in a test. The output has null in its place.
func TestAnItemWithABadInputFailsAlone(t *testing.T) {
	onBoth(t, func(w *world) {
		const source = `
name: items
triggers: [{manual: true}]
steps:
  - {id: each, tool: shell, foreach: [a, null, c], on_error: continue, input: {command: [x, "{{ item }}"]}, output: all}
  - {id: next, tool: note, input: {all: "{{ map(all, # != null) }}", code: "{{ steps.each.error.code }}"}}
`
		run := w.run(source, nil)
		for range 2 {
			w.work(fermata.Finish{Result: fermata.ResultCompleted})
		}
		const want = `{"all":[true,false,true],"code":"input_error"}`
		run = w.await(run.ID, fermata.TaskDone)
		if got := string(run.Steps[len(run.Steps)-1].Input); got != want {
			w.Errorf("the next step got %s", got)
		}
		report, err := workflow.Simulate(w.Context(), []byte(source), []byte("tools: {each: {output: {}}}\n"), nil)
		w.OK(err)
		if got := string(report.Run.Steps[len(report.Run.Steps)-1].Input); got != want {
			w.Errorf("in a test, the next step got %s", got)
		}
	})
}

// A test makes up the value of a secret, so it does not refuse the value.
func TestATestDoesNotJudgeSecrets(t *testing.T) {
	t.Parallel()
	needsURL := []tool.Info{{Name: "fetch", Check: func(input map[string]any) error {
		if input["url"] != "https://example.com" {
			return fermata.Invalid(fermata.Problem{Field: "url", Message: "is no address"})
		}
		return nil
	}}}
	for url, want := range map[string]fermata.StepState{"{{ secrets.HOOK }}": fermata.StepDone, "{{ inputs.url }}": fermata.StepFailed} {
		source := "name: x\ntriggers: [{manual: true}]\ninputs: {url: {type: string, default: x}}\nsteps: [{id: a, tool: fetch, input: {url: \"" + url + "\"}}]\n"
		report, err := workflow.Simulate(t.Context(), []byte(source), []byte("tools: {a: {output: {}}}\n"), needsURL)
		if err != nil {
			t.Fatal(err)
		}
		if got := report.Run.Steps[0].State; got != want {
			t.Errorf("%s: the step is %s", url, got)
		}
	}
}

// An input that breaks several rules names all of them, and how the tool's description is read.
func TestARefusedInputNamesEveryProblem(t *testing.T) {
	t.Parallel()
	infos := []tool.Info{{Name: "fetch", Input: json.RawMessage(`{"type": "object", "properties": {"n": {"type": "integer"}}}`), Check: func(input map[string]any) error {
		if input["n"] != int64(1) {
			return nil
		}
		return fermata.Invalid(fermata.Problem{Field: "a", Message: "is wrong"}, fermata.Problem{Field: "b", Message: "too"})
	}}}
	for value, want := range map[string]string{"1": "a: is wrong; b: too", "x": "n: got string, want integer"} {
		source := "name: x\ntriggers: [{manual: true}]\ninputs: {v: {type: array, default: [" + value + "]}}\nsteps: [{id: a, tool: fetch, input: {n: \"{{ inputs.v[0] }}\"}}]\n"
		report, err := workflow.Simulate(t.Context(), []byte(source), []byte("tools: {a: {output: {}}}\n"), infos)
		if err != nil {
			t.Fatal(err)
		}
		e := report.Run.Steps[0].Error
		if e == nil || !strings.Contains(e.Message, want) || value == "x" && !strings.Contains(e.Hint, "fermata workflow tools show fetch") {
			t.Errorf("%s: %s", value, asJSON(e))
		}
	}
}

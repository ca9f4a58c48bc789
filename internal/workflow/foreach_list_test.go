package workflow_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow"
)

// A foreach over something else than a list fails with what it is. Null is a mistake, too: nothing was done for no item.
func TestForeachNeedsAList(t *testing.T) {
	onBoth(t, func(w *world) {
		const mayBeMissing = "if the list may be missing, write {{ … ?? [] }}"
		for list, want := range map[string][2]string{
			"{{ s.issues }}":    {"foreach is null, and must be a list", mayBeMissing},
			"{{ inputs.rows }}": {"foreach is null, and must be a list", mayBeMissing},
			"{{ s.title }}":     {"foreach is a text, and must be a list", "give a list, such as {{ [first, second] }}"},
			"{{ s.count }}":     {"foreach is a number, and must be a list", "give a list, such as {{ [first, second] }}"},
			"{{ s }}":           {"foreach is an object, and must be a list", "give a list, such as {{ [first, second] }}"},
		} {
			source := `
name: each
triggers: [{manual: true}]
inputs: {rows: {type: array}}
steps:
  - {id: s, tool: note, output: s, input: {issues: null, title: "a", count: 3}}
  - {id: each, tool: check, foreach: "` + list + `"}
`
			run := w.await(w.run(source, nil).ID, fermata.TaskFailed)
			if e := run.Steps[1].Error; e == nil || e.Code != "input_error" || [2]string{e.Message, e.Hint} != want {
				w.Errorf("%s: the error is %+v", list, e)
			}
			report, err := w.s.Simulate(w.Context(), admin, workflow.Trial{Source: source, Script: "tools: {s: {output: {issues: null, title: a, count: 3}}}\nexpect: {state: failed}\n"})
			w.OK(err)
			if !report.Passed || report.Run.Steps[1].Error.Message != want[0] {
				w.Errorf("%s: the test says %+v", list, report.Failures)
			}
		}
		run := w.await(w.run("name: none\ntriggers: [{manual: true}]\ninputs: {rows: {type: array}}\nsteps: [{id: each, tool: check, foreach: '{{ inputs.rows ?? [] }}'}]\n", nil).ID, fermata.TaskDone)
		if got := string(run.Steps[0].Output); got != "[]" {
			w.Errorf("the output is %s", got)
		}
	})
}

package workflow_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
)

// A step whose run was stopped at its time limit fails with the code of a time limit, as a tool that the server calls. The
// run of another workflow has no time limit: its failed step is a failed child.
func TestATimeLimitHasItsOwnCode(t *testing.T) {
	onBoth(t, func(w *world) {
		for _, tool := range []*fermata.NamedTool{
			{Name: "make_all", Command: []string{"make"}, Timeout: "1s"},
			{Name: "look", Agent: &fermata.AgentTool{Prompt: "Look."}, Timeout: "1s"},
		} {
			_, err := w.s.PutNamedTool(w.Context(), admin, tool)
			w.OK(err)
		}
		w.put("name: other\ntriggers: [{manual: true}]\nsteps: [{id: a, tool: shell, timeout: 1s, input: {command: [sleep, 5]}}]\n")
		const summary = "The run took longer than 1s and was stopped."
		for step, code := range map[string]string{
			"tool: shell, timeout: 1s, input: {command: [sleep, 5]}":  "step_timeout",
			"tool: shell, foreach: [1], input: {command: [sleep, 5]}": "step_timeout",
			"tool: agent, timeout: 1s, input: {prompt: Look.}":        "step_timeout",
			"tool: make_all":                       "step_timeout",
			"tool: look":                           "step_timeout",
			"tool: workflow, input: {name: other}": "child_failed",
		} {
			for reason, want := range map[string]string{fermata.ReasonRunTimeout: code, "": "child_failed"} {
				run := w.run("name: slow\ntriggers: [{manual: true}]\nsteps:\n  - {id: a, on_error: continue, "+step+"}\n  - {id: b, tool: note, condition: \"steps.a.error.code == 'step_timeout'\"}\n", nil)
				child := w.work(fermata.Finish{Result: fermata.ResultFailed, Reason: reason, Summary: summary, Details: []byte(`{"exit_code":-1,"output":"out","stderr":""}`)})
				run = w.await(run.ID, fermata.TaskDone)
				failure, b := run.Steps[0].Error, run.Steps[len(run.Steps)-1]
				if failure == nil || failure.Code != want || (b.State == fermata.StepDone) != (want == "step_timeout") {
					w.Errorf("%s: %s\n%s", step, asJSON(failure), w.describe(run))
				}
				task, err := w.Engine.Task(w.Context(), admin, child.ID)
				w.OK(err)
				w.Equal(reason, task.Reason)
			}
		}
	})
}

package workflow_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow"
	"github.com/fermata-hq/fermata/test/patience"
)

// finishStep claims the only open task, checks the working copy in the spec of the task, and ends the task.
func (w *world) finishStep(result fermata.Result, want string) *fermata.Task {
	w.Helper()
	claim, err := w.Engine.Claim(w.Context(), worker, fermata.ClaimRequest{Worker: "w", Runners: []string{"claude", "shell"}})
	w.OK(err)
	var spec struct {
		WorkingCopy string `json:"working_copy"`
		From        string `json:"from"`
		Push        bool   `json:"push"`
	}
	w.OK(json.Unmarshal(claim.Task.Spec, &spec))
	if got := fmt.Sprintf("%s/%s/%t", spec.WorkingCopy, spec.From, spec.Push); got != want {
		w.Fatalf("the working copy of %s is %s, want %s", claim.Task.Title, got, want)
	}
	_, err = w.Engine.Finish(w.Context(), worker, claim.Run.ID, fermata.Finish{Token: claim.Run.Token, Result: result})
	w.OK(err)
	return claim.Task
}

// lastInput returns the input of a step's last occurrence.
func (w *world) lastInput(id, step string) string {
	w.Helper()
	var input string
	for _, s := range w.read(id).Steps {
		if s.Step == step && s.Item == nil {
			input = string(s.Input)
		}
	}
	return input
}

func TestStepsWithWorkingCopiesOfTheirOwn(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]string{
		"a command":         `tool: shell, input: {run: make}`,
		"an agent":          `tool: agent, input: {prompt: "Look."}`,
		"an agent of ours":  `tool: look`,
		"a command of ours": `tool: build`,
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				_, err := w.s.PutNamedTools(w.Context(), admin, []*fermata.NamedTool{
					{Name: "look", Agent: &fermata.AgentTool{Prompt: "Look."}}, {Name: "build", Command: []string{"make"}},
				})
				w.OK(err)
				run := w.run("\nname: apart\ntriggers: [{manual: true}]\nsteps:\n  - {id: one, working_copy: own, "+step+`}
  - {id: two, `+step+`}
  - {id: three, tool: note, input: {branch: "{{ steps.one.branch }}"}}
`, nil)
				w.await(run.ID, fermata.TaskBlocked)
				one := w.finishStep(fermata.ResultCompleted, "/"+run.ID+"/false")
				w.awaitStepState(run.ID, "two", fermata.StepWaiting)
				w.finishStep(fermata.ResultCompleted, run.ID+"//false")
				w.await(run.ID, fermata.TaskDone)
				if got := w.lastInput(run.ID, "three"); got != `{"branch":"fermata/`+one.ID+`"}` {
					w.Errorf("the step got %s", got)
				}
			})
		})
	}
}

// A step has its branch only once it is done, because a failed step has nothing on its branch. An item that failed has
// null in its place.
func TestBranchesOfItemsAndOfWhatFailed(t *testing.T) {
	onBoth(t, func(w *world) {
		run := w.run(`
name: apart
triggers: [{manual: true}]
steps:
  - {id: one, tool: shell, working_copy: own, input: {run: make}, on_error: continue}
  - {id: each, tool: shell, working_copy: own, foreach: [a, b], input: {run: make}, on_error: continue}
  - {id: none, tool: shell, working_copy: own, foreach: [], input: {run: make}}
  - {id: last, tool: note, input: {one: "{{ steps.one.branch }}", each: "{{ steps.each.branch }}", none: "{{ steps.none.branch }}"}}
`, nil)
		w.await(run.ID, fermata.TaskBlocked)
		w.finishStep(fermata.ResultFailed, "/"+run.ID+"/false")
		w.awaitStepState(run.ID, "each", fermata.StepWaiting)
		a := w.finishStep(fermata.ResultCompleted, "/"+run.ID+"/false")
		patience.Await(w, "the second item is begun", func() bool {
			steps := w.read(run.ID).Steps
			last := steps[len(steps)-1]
			return last.Item != nil && *last.Item == 1 && last.State == fermata.StepWaiting
		})
		w.finishStep(fermata.ResultFailed, "/"+run.ID+"/false")
		w.await(run.ID, fermata.TaskDone)
		if got := w.lastInput(run.ID, "last"); got != `{"each":["fermata/`+a.ID+`",null],"none":[],"one":null}` {
			w.Errorf("the step got %s", got)
		}
	})
}

// The branch of the run is pushed for a pull request. The branches of steps are pushed if a pull request names its
// branch.
func TestBranchesThatArePushed(t *testing.T) {
	t.Parallel()
	for pull, pushed := range map[string]bool{`{}`: false, `{head: "{{ steps.one.branch }}"}`: true} {
		t.Run(pull, func(t *testing.T) {
			onBoth(t, func(w *world) {
				w.stop()
				w.Engine, w.s = w.process(func(o *workflow.Options) { o.Tools = append(o.Tools, benchTool{"github_create_pr", w.tools}) })
				w.start()
				run := w.run(`
name: apart
triggers: [{manual: true}]
steps:
  - {id: one, tool: shell, working_copy: own, input: {run: make}}
  - {id: two, tool: shell, input: {run: make}}
  - {id: pull, tool: github_create_pr, input: `+pull+`}
`, nil)
				w.await(run.ID, fermata.TaskBlocked)
				w.finishStep(fermata.ResultCompleted, fmt.Sprintf("/%s/%t", run.ID, pushed))
				w.awaitStepState(run.ID, "two", fermata.StepWaiting)
				w.finishStep(fermata.ResultCompleted, run.ID+"//true")
				w.await(run.ID, fermata.TaskDone)
			})
		})
	}
}

// A tool of an MCP server and a tool of this process have no working copy.
func TestAWorkingCopyOfAToolThatHasNoneIsRefused(t *testing.T) {
	onBoth(t, func(w *world) {
		for _, tool := range []string{"note", "request_approval", "wait", "workflow"} {
			_, err := w.s.Put(w.Context(), admin, "", workflow.Definition{Source: `
name: apart
triggers: [{manual: true}]
steps:
  - {id: one, working_copy: own, tool: ` + tool + `}
`})
			if text := fmt.Sprint(err); fermata.CodeOf(err) != fermata.CodeInvalidRequest {
				w.Errorf("%s: %s", tool, text)
			}
		}
	})
}

// A simulation has no workers, so the branch has the name of its step.
func TestBranchesOfStepsInATest(t *testing.T) {
	t.Parallel()
	report, err := workflow.Simulate(t.Context(), []byte(`
name: apart
triggers: [{manual: true}]
steps:
  - {id: left, tool: shell, working_copy: own, input: {run: make}}
  - {id: right, tool: shell, needs: [], working_copy: own, foreach: [a, b], input: {run: make}}
  - {id: merge, tool: shell, needs: [left, right], input: {command: [git, merge, "{{ steps.left.branch }}", "{{ steps.right.branch[1] }}"]}}
`), []byte(`
tools: {left: {output: {}}, right: {output: {}}, merge: {output: {}}}
expect: {state: done, input: {merge: {command: [git, merge, fermata/left, fermata/right-2]}}}
`), nil)
	if err != nil || !report.Passed {
		t.Fatalf("%v: %s", err, asJSON(report))
	}
}

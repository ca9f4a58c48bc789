package workflow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow"
)

// Problems that a run would meet only later are reported when the definition is stored. Examples are a tool that reads
// a missing input, and a channel that does not exist.
func TestWhatAStepLacksIsSaidAtOnce(t *testing.T) {
	onBoth(t, func(w *world) {
		_, s := w.process(func(o *workflow.Options) { o.ChannelKinds = []string{"github", "slack"} })
		for _, n := range []*fermata.NamedTool{
			{Name: "explain", Agent: &fermata.AgentTool{Prompt: "Explain issue {{ inputs.issue }} in {{ input.style }}, {{ inputs.tone ?? 'kindly' }}."}},
			{Name: "checks", Command: []string{"make", "check", "{{ inputs.target }}"}},
		} {
			_, err := s.PutNamedTool(w.Context(), admin, n)
			w.OK(err)
		}
		v, err := s.Validate(w.Context(), ann, `
name: lacking
triggers: [{manual: true}]
inputs: {target: {type: string}}
steps:
  - {id: one, tool: explain}
  - {id: two, tool: checks}
  - {id: ask, tool: post_question, suspend: true, input: {question: "Go?", notifyVia: [gihub, inbox, slack, pager, "{{ inputs.target }}"]}}
  - {id: soon, tool: post_question, suspend: true, input: {question: "Go?", timeout: 10s, timeoutAction: fail}}
  - {id: hours, tool: post_question, suspend: true, input: {question: "Go?", timeoutHours: 0.05, timeoutAction: fail}}
`)
		w.OK(err)
		var got []string
		for _, p := range v.Problems {
			got = append(got, p.Message+" | "+p.Hint)
		}
		want := []string{
			"explain reads inputs.issue, and the workflow has no such input | give the workflow the input issue",
			"explain reads input.style, and the step has no such input | give the step input: {style: …}",
			"there is no channel gihub | did you mean github?",
			"no channel of the kind slack is switched on yet | an admin adds it: fermata channel add",
			"there is no channel pager yet | an admin adds it: fermata channel add",
			"10s is below the policy's shortest timeout, 5m | an admin changes the policy: fermata policy set",
			"3m is below the policy's shortest timeout, 5m | an admin changes the policy: fermata policy set",
		}
		if v.Valid || !slices.Equal(got, want) {
			w.Errorf("the problems are\n%s", strings.Join(got, "\n"))
		}
	})
}

// A step that starts another workflow by its name is checked against the inputs of that workflow.
func TestWhatAStartedWorkflowTakesIsCheckedAtOnce(t *testing.T) {
	onBoth(t, func(w *world) {
		w.put("name: child\ntriggers: [{manual: true}]\ninputs: {x: {type: string, required: true}, n: {type: number}, kind: {type: string, enum: [a, b], default: a}, size: {type: number, enum: [1, 2]}}\nsteps: [{id: a, tool: note}]\n")
		w.put("name: apart\nproject: site\ntriggers: [{manual: true}]\nsteps: [{id: a, tool: note}]\n")
		step := func(id, input string) string { return "  - {id: " + id + ", tool: workflow, input: " + input + "}\n" }
		v, err := w.s.Validate(w.Context(), ann, "name: parent\ntriggers: [{manual: true}]\ninputs: {x: {type: string}}\nsteps:\n"+
			step("missing", "{name: chidl, inputs: {x: y}}")+step("elsewhere", "{name: apart}")+step("itself", "{name: parent}")+
			step("nothing", "{name: child}")+step("wrong", "{name: child, inputs: {x: 5, y: 1, kind: c}}")+
			step("right", `{name: child, inputs: {x: "{{ inputs.x }}", n: null, kind: b, size: 2}}`)+step("none", `{name: child, inputs: {x: y, kind: null, size: null}}`)+step("big", `{name: child, inputs: {x: y, size: 3}}`)+step("later", `{name: "{{ inputs.x }}", inputs: {z: 1}}`))
		w.OK(err)
		var got []string
		for _, p := range v.Problems {
			got = append(got, fmt.Sprintf("%d: %s | %s | %t", p.Line, p.Message, p.Hint, p.Warning))
		}
		want := []string{
			"5: there is no workflow chidl in this project yet | did you mean child? | true",
			"6: there is no workflow apart in this project yet | store it before this one runs: a step starts workflows of its own project | true",
			"7: a run of parent cannot start one of the same workflow | go back with goto or repeat, which are counted | false",
			"8: x is missing | add x | false",
			`9: must be a text, and is 5 | quote it: "5" | false`,
			"9: there is no field y here | there are kind, n, size, x | false",
			`9: must be one of a, b, and is the text "c" |  | false`,
			"12: must be one of 1, 2, and is 3 |  | false",
		}
		if v.Valid || !slices.Equal(got, want) {
			w.Errorf("the problems are\n%s", strings.Join(got, "\n"))
		}
	})
}

package workflow_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow"
)

// What a run would only meet later is said when the definition is kept: a tool that reads an input which is not there, and
// a channel that nobody has.
func TestWhatAStepLacksIsSaidAtOnce(t *testing.T) {
	onBoth(t, func(w *world) {
		_, s := w.process(func(o *workflow.Options) { o.ChannelKinds = []string{"github", "slack"} })
		for _, n := range []*fermata.NamedTool{
			{Name: "explain", Agent: &fermata.AgentTool{Prompt: "Explain issue {{ inputs.issue }} in {{ input.style }}, {{ inputs.tone ?? 'kindly' }}."}},
			{Name: "checks", Command: []string{"make", "check", "{{ inputs.target }}"}},
		} {
			_, err := s.PutNamedTool(w.Context(), admin, n)
			w.ok(err)
		}
		v, err := s.Validate(w.Context(), ann, `
name: lacking
triggers: [{manual: true}]
inputs: {target: {type: string}}
steps:
  - {id: one, tool: explain}
  - {id: two, tool: checks}
  - {id: ask, tool: post_question, suspend: true, input: {question: "Go?", notifyVia: [gihub, inbox, slack, pager, "{{ inputs.target }}"]}}
`)
		w.ok(err)
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
		}
		if v.Valid || !slices.Equal(got, want) {
			w.Errorf("the problems are\n%s", strings.Join(got, "\n"))
		}
	})
}

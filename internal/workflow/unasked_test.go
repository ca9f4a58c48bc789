package workflow_test

import (
	"context"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
)

// A question that a threshold answers or sets aside needs only the confidence
// and the default. An agent that is sure returns nothing else.
func TestAQuestionThatAThresholdAnswersNeedsNoText(t *testing.T) {
	const head = `
name: unsure
triggers: [{manual: true}]
confidence: {auto: 80, ask: 50}
steps:
  - {id: analyze, tool: analyze, output: analysis}
  - {id: ask, tool: post_question, suspend: true, output: chosen, input: {`
	const tail = `, default: "{{ analysis.defaultApproach }}", confidence: "{{ analysis.confidence }}"}}
  - {id: tell, tool: note, input: {with: "{{ chosen.answer }}", source: "{{ chosen.source }}"}}
`
	for name, tt := range map[string]struct {
		input    string
		analysis map[string]any
		state    fermata.TaskState
		told     string
	}{
		"sure, and no question": {
			`question: "{{ analysis.uncertainQuestion }}", options: "{{ analysis.suggestedOptions }}"`,
			map[string]any{"confidence": 90, "defaultApproach": "patch"}, fermata.TaskDone, `{"source":"auto","with":"patch"}`,
		},
		"sure, and a template that cannot be filled in": {
			`question: "Take {{ analysis.options[0].label }}?", body: "{{ upper(analysis.body) }}"`,
			map[string]any{"confidence": 90, "defaultApproach": "patch"}, fermata.TaskDone, `{"source":"auto","with":"patch"}`,
		},
		"too unsure to be asked": {
			`question: "{{ analysis.uncertainQuestion }}"`, map[string]any{"confidence": 30}, fermata.TaskSkipped, "",
		},
		"a question for a person": {
			`question: "{{ analysis.uncertainQuestion }}"`, map[string]any{"confidence": 60, "defaultApproach": "patch"}, fermata.TaskFailed, "",
		},
		"sure, of an option that is dangerous": {
			`question: "{{ analysis.uncertainQuestion }}", options: [{value: patch, danger: true}, keep]`,
			map[string]any{"confidence": 90, "defaultApproach": "patch"}, fermata.TaskFailed, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				w.tools.on("analyze", func(context.Context, tool.Call) (any, error) { return tt.analysis, nil })
				run := w.run(head+tt.input+tail, nil)
				run = w.awaitEnd(run.ID)
				if run.State != tt.state {
					w.Fatalf("the run is %s (%s); %s", run.State, run.Summary, w.describe(run))
				}
				if got := string(run.Steps[len(run.Steps)-1].Input); tt.told != "" && got != tt.told {
					w.Errorf("the next step got %s, want %s", got, tt.told)
				}
				if tt.state != fermata.TaskDone {
					return
				}
				q, err := w.Engine.Question(w.Context(), ann, run.Steps[1].QuestionID)
				w.OK(err)
				if q.Resolution.DecidedBy != fermata.ActorPolicy || !strings.Contains(q.Title+q.Items[0].Prompt, "The step ask of unsure") && !strings.Contains(q.Title, "Take") {
					w.Errorf("on record is %s", asJSON(q))
				}
			})
		})
	}
}

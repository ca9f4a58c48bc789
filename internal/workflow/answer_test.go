package workflow_test

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow"
)

// readsAnswer is a workflow that reads every field of an answer, in inject and in the output.
const readsAnswer = `
name: fields
triggers: [{manual: true}]
steps:
  - {id: ask, tool: %TOOL, suspend: true, input: {%INPUT, timeout: never}, output: m, on_resume: {inject: {injected: "{{ pendingQuestion.option }}", votes: "{{ pendingQuestion.votes }}", action: "{{ pendingQuestion.action }}", decision: "{{ pendingQuestion.decision }}"}}}
  - {id: look, tool: note, input: {option: "{{ m.option }}", rest: "{{ [m.comment, m.source, m.by != null, m.at != null, len(m.answers), m.votes] }}", injected: "{{ injected }}"}}
`

// Every answer has all fields that the documentation names: an expression that validates does not fail because of the type
// of the question.
func TestAnAnswerHasAllFields(t *testing.T) {
	onBoth(t, func(w *world) {
		for _, tt := range []struct {
			input  string
			answer fermata.Answer
			want   string
		}{
			{"question: A?, options: [a, b]", fermata.Answer{Answer: "a"}, `{"injected":"a","option":"a","rest":["","human",true,true,1,null]}`},
			{"question: A?, responseType: number", fermata.Answer{Answer: 3}, `{"injected":null,"option":null,"rest":["","human",true,true,1,null]}`},
			{"question: A?, responseType: boolean", fermata.Answer{Answer: true}, `{"injected":null,"option":null,"rest":["","human",true,true,1,null]}`},
			{"question: A?, responseType: multi_choice, options: [a, b]", fermata.Answer{Answer: []any{"a"}}, `{"injected":null,"option":null,"rest":["","human",true,true,1,null]}`},
			{"question: A?, responseType: text", fermata.Answer{Answer: "x"}, `{"injected":"x","option":"x","rest":["","human",true,true,1,null]}`},
			{
				"title: A, items: [{key: x, prompt: X, response_type: number}, {key: y, prompt: Y, response_type: text}]",
				fermata.Answer{Answers: map[string]any{"x": 1, "y": "z"}}, `{"injected":null,"option":null,"rest":["","human",true,true,2,null]}`,
			},
		} {
			source := strings.NewReplacer("%TOOL", "post_question", "%INPUT", tt.input).Replace(readsAnswer)
			run := w.run(source, nil)
			w.answer(w.awaitRunQuestion(run.ID), tt.answer)
			if got := inputsOf(w.await(run.ID, fermata.TaskDone), "look"); got != tt.want {
				t.Errorf("%s: %s", tt.input, got)
			}
		}
		run := w.run(strings.NewReplacer("%TOOL", "request_approval", "%INPUT", "title: Ok?").Replace(readsAnswer), nil)
		w.answer(w.awaitRunQuestion(run.ID), fermata.Answer{Answer: fermata.Approve})
		if got := inputsOf(w.await(run.ID, fermata.TaskDone), "look"); got != `{"injected":"approve","option":"approve","rest":["","human",true,true,1,null]}` {
			t.Errorf("an approval: %s", got)
		}
	})
}

// A question for which the run does not wait has the same fields.
func TestAnAnswerWithoutWaitingHasAllFields(t *testing.T) {
	t.Parallel()
	source := "name: x\ntriggers: [{manual: true}]\nsteps:\n  - {id: ask, tool: post_question, input: {question: A?, responseType: boolean, default: true}, output: m}\n" +
		"  - {id: look, tool: wait, input: {for: 1s}, condition: \"m.option == null && m.comment == '' && m.by == null && m.at != null && m.source == 'default' && len(m.answers) == 1\"}\n"
	report, err := workflow.Simulate(t.Context(), []byte(source), []byte("expect: {steps: {look: done}}\n"), nil)
	if err != nil || len(report.Failures) > 0 {
		t.Errorf("%v: %s", err, asJSON(report))
	}
}

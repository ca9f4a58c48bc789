package workflow_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
)

const (
	shellStep = `tool: shell, input: {run: "test -e flag"}`
	agentStep = `tool: agent, input: {runner: claude, prompt: "Look for the flag."}`
	namedStep = `tool: look`
)

// A step that a person retries returns its own output, not the person's answer about its error.
func TestTheOutputAfterARemedyIsTheSteps(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		step    string
		answers map[string]any
		// again says that the answer ends the run, and the run is then retried.
		again bool
	}{
		"a script that is tried again":         {step: shellStep, answers: map[string]any{"action": "retry"}},
		"a script with another input":          {step: shellStep, answers: map[string]any{"action": "retry_with_input", "input": `{"run":"true"}`}},
		"a run that is tried again":            {step: shellStep, answers: map[string]any{"action": "abort"}, again: true},
		"an agent that is tried again":         {step: agentStep, answers: map[string]any{"action": "retry"}},
		"a tool of ours that is tried again":   {step: namedStep, answers: map[string]any{"action": "retry"}},
		"a tool of ours, with an input to use": {step: namedStep, answers: map[string]any{"action": "retry_with_input", "input": `{"answer":"no"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				_, err := w.s.PutNamedTool(w.Context(), admin, &fermata.NamedTool{Name: "look", Agent: &fermata.AgentTool{Runner: "claude", Prompt: "Look for the flag."}})
				w.OK(err)
				run := w.run(`
name: probe
triggers: [{manual: true}]
steps:
  - {id: probe, `+tt.step+`, on_error: ask, output: probe}
  - {id: say, tool: note, input: {probe: "{{ probe }}", answer: "{{ steps.probe.answer }}"}}
`, nil)
				w.work(fermata.Finish{Result: fermata.ResultFailed, Summary: "no flag"})
				w.answerAs(w.operator(), w.awaitRunQuestion(run.ID), fermata.Answer{Answers: tt.answers})
				if tt.again {
					w.awaitEnd(run.ID)
					_, err := w.s.Retry(w.Context(), admin, run.ID, nil)
					w.OK(err)
				}
				w.work(fermata.Finish{Result: fermata.ResultCompleted, Details: []byte(`{"real":true,"summary":"seen"}`)})
				run = w.await(run.ID, fermata.TaskDone)
				if got := string(run.Steps[1].Input); got != `{"answer":null,"probe":{"real":true,"summary":"seen"}}` {
					w.Errorf("the next step got %s", got)
				}
			})
		})
	}
}

// work claims the next task as a worker, finishes it with f, and returns it.
func (w *world) work(f fermata.Finish) *fermata.Task {
	w.Helper()
	claim, err := w.Engine.Claim(w.Context(), worker, fermata.ClaimRequest{Worker: "w", Runners: []string{"shell", "claude"}, WaitSeconds: 20})
	w.OK(err)
	f.Token = claim.Run.Token
	_, err = w.Engine.Finish(w.Context(), worker, claim.Run.ID, f)
	w.OK(err)
	return claim.Task
}

package workflow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
)

// An item whose question, task or run cannot be created fails alone: the other items keep their results, and the step
// gives the list.
func TestOneRefusedItem(t *testing.T) {
	const inner = "name: inner\ntriggers: [{manual: true}]\ninputs: {n: {type: number, required: true}}\nsteps: [{id: one, tool: note}]\n"
	for name, tt := range map[string]struct{ step, message string }{
		"an empty question":      {`tool: post_question, suspend: true, foreach: ["A?", "", "C?"], input: {question: "{{ item }}", options: [y, n], timeout: never}`, "must not be empty"},
		"a question with a time": {`tool: request_approval, foreach: [1h, 1ms, 2h], input: {title: Go, action: {tool: go}, timeout: "{{ item }}"}`, "timeout"},
		"a run of a workflow":    {`tool: workflow, foreach: [1, x, 3], input: {name: inner, inputs: {n: "{{ item }}"}}`, "inputs.n: must be a number"},
		"a template":             {`tool: note, foreach: [{n: 1}, {}, {n: 3}], input: {text: "It is {{ item.n }}."}`, "n"},
		"a tool of the workspace": {
			`tool: rate, foreach: [{n: 1}, {n: null}, {n: 3}], input: {n: "{{ item.n }}"}`, "the command of rate: ",
		},
	} {
		for _, parallel := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s, %d at once", name, parallel), func(t *testing.T) {
				onBoth(t, func(w *world) {
					w.put(inner)
					_, err := w.s.PutNamedTool(w.Context(), admin, &fermata.NamedTool{Name: "rate", Command: []string{"rate", "{{ input.n }}"}})
					w.OK(err)
					run := w.run(fmt.Sprintf("name: outer\ntriggers: [{manual: true}]\nsteps:\n  - {id: each, %s, parallel: %d, output: all}\n", tt.step, parallel), nil)
					w.serveItems(run.ID)
					run = w.await(run.ID, fermata.TaskFailed)
					if got := w.itemStates(run.ID); got != "done failed done" {
						w.Errorf("the items are %s", got)
					}
					each := run.Steps[0]
					if e := each.Error; !strings.Contains(e.Message, "1 of 3 items failed, the first of them item 1: ") || !strings.Contains(e.Message, tt.message) {
						w.Errorf("the step failed with %+v", e)
					}
					if got := strings.Count(string(each.Output), "null,"); got == 0 || strings.HasPrefix(string(each.Output), "[null") {
						w.Errorf("the step gave %s", each.Output)
					}
				})
			})
		}
	}
}

// serveItems answers the questions of a run's items, and does their commands, until the run has ended.
func (w *world) serveItems(id string) {
	w.Helper()
	patience.Await(w, "the run ends", func() bool {
		for _, q := range w.openItemQuestions(id) {
			answer := "y"
			if q.Type == fermata.Approval {
				answer = fermata.Approve
			}
			w.answer(q, fermata.Answer{Answer: answer, ActionHash: q.ActionHash})
		}
		claim, err := w.Engine.Claim(w.Context(), worker, fermata.ClaimRequest{Worker: "w", Runners: []string{"shell"}})
		if err == nil {
			_, err = w.Engine.Finish(w.Context(), worker, claim.Run.ID, fermata.Finish{Token: claim.Run.Token, Result: fermata.ResultCompleted})
			w.OK(err)
		}
		return w.read(id).State.IsEnded()
	})
}

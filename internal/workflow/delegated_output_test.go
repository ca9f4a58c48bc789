package workflow_test

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
)

// A step whose run or command somebody cancelled says which one, who cancelled it, and why.
func TestACancelledTaskSaysWho(t *testing.T) {
	const inner = "name: inner\ntriggers: [{manual: true}]\nsteps:\n  - {id: ask, tool: post_question, suspend: true, input: {question: A?, responseType: text, timeout: never}}\n"
	for name, tt := range map[string]struct{ step, reason, want string }{
		"a run":                    {"tool: workflow, input: {name: inner}", "", "The step sub failed: root cancelled the run ID of inner"},
		"a run with a reason":      {"tool: workflow, input: {name: inner}", "too slow", "The step sub failed: root cancelled the run ID of inner: too slow"},
		"a command":                {"tool: shell, input: {command: [make]}", "", "The step sub failed: root cancelled its task"},
		"a command with a reason":  {"tool: shell, input: {command: [make]}", "too slow", "The step sub failed: root cancelled its task: too slow"},
		"an item with a reason":    {"tool: workflow, foreach: [1], input: {name: inner}", "too slow", "The step sub failed: 1 of 1 items failed, the first of them item 0: root cancelled the run ID of inner: too slow"},
		"an agent without an item": {"tool: agent, input: {prompt: x}", "", "The step sub failed: root cancelled its task"},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(w *world) {
				w.put(inner)
				id := w.run("name: outer\ntriggers: [{manual: true}]\nsteps:\n  - {id: sub, "+tt.step+"}\n", nil).ID
				var child string
				patience.Await(w, "the step waits for its task", func() bool {
					for _, step := range w.read(id).Steps {
						child = step.ChildID
					}
					return child != ""
				})
				_, err := w.Engine.CancelTask(w.Context(), admin, child, tt.reason)
				w.OK(err)
				if got := strings.ReplaceAll(w.await(id, fermata.TaskFailed).Summary, child, "ID"); got != tt.want {
					w.Errorf("the run says %q, want %q", got, tt.want)
				}
			})
		})
	}
}

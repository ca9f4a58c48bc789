package workflow_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow"
)

// endings returns how the steps and the items of a run ended, in the order of their names: the state, the hours that each
// took, and the answer with its source.
func endings(run *fermata.WorkflowRun) string {
	var all []string
	for _, s := range run.Steps {
		var output struct {
			Answer any    `json:"answer"`
			Source string `json:"source"`
		}
		_ = json.Unmarshal(s.Output, &output) // a list of items has no answer
		text := s.Step
		if s.Item != nil {
			text += fmt.Sprintf("[%d]", *s.Item)
		}
		text += " " + string(s.State)
		if s.EndedAt != nil {
			text += fmt.Sprintf(" %dh", s.EndedAt.Sub(s.StartedAt).Round(time.Hour)/time.Hour)
		}
		if output.Source != "" {
			text += fmt.Sprintf(" %v (%s)", output.Answer, output.Source)
		}
		all = append(all, text)
	}
	slices.SortStableFunc(all, func(a, b string) int { return strings.Compare(nameOf(a), nameOf(b)) })
	return strings.Join(all, ", ")
}

func nameOf(ending string) string {
	name, _, _ := strings.Cut(ending, " ")
	return name
}

// Each entry of a script decides its own question, also beside a question that nobody answers. All scripted answers are
// given before the clock moves, and deadlines pass in the order of time.
func TestATimeoutEndsOnlyItsOwnQuestion(t *testing.T) {
	t.Parallel()
	const slow = `{id: b, tool: post_question, suspend: true, needs: [], input: {question: "B?", options: [x, y], default: y, timeout: 2h}}`
	for name, tt := range map[string]struct{ steps, answers, want string }{
		"an approval beside it": {
			`[` + slow + `, {id: c, tool: request_approval, needs: [], input: {title: "C?", action: {c: 1}, timeout: 1h}}]`,
			`{b: {timeout: true}, c: approve}`, "b done 2h y (timeout), c done 0h approve (human)",
		},
		"an approval before it": {
			`[{id: c, tool: request_approval, needs: [], input: {title: "C?", action: {c: 1}, timeout: 1h}}, ` + slow + `]`,
			`{b: {timeout: true}, c: approve}`, "b done 2h y (timeout), c done 0h approve (human)",
		},
		"an answer that is not the default": {
			`[` + slow + `, {id: c, tool: post_question, suspend: true, needs: [], input: {question: "C?", options: [x, y], default: x, timeout: 1h}}]`,
			`{b: {timeout: true}, c: y}`, "b done 2h y (timeout), c done 0h y (human)",
		},
		"two deadlines": {
			`[` + slow + `, {id: c, tool: post_question, suspend: true, needs: [], input: {question: "C?", options: [x, y], default: x, timeout: 1h}}]`,
			`{b: {timeout: true}, c: {timeout: true}}`, "b done 2h y (timeout), c done 1h x (timeout)",
		},
		"a wait beside it": {
			`[` + slow + `, {id: w, tool: wait, needs: [], input: {for: 1h}}, {id: c, tool: post_question, suspend: true, needs: [w], input: {question: "C?", options: [x, y], timeout: 30m}}]`,
			`{b: {timeout: true}, c: y}`, "b done 2h y (timeout), c done 0h y (human), w done 1h",
		},
		"no deadline beside a wait": {
			`[{id: c, tool: post_question, suspend: true, needs: [], input: {question: "C?", options: [x, y], timeout: never}}, {id: w, tool: wait, needs: [], input: {for: 1h}}, ` +
				`{id: d, tool: check, needs: [w], input: {}}]`,
			`{c: {timeout: true}}`, "c waiting, d done 0h, w done 1h",
		},
		"an entry for the question what to do about it": {
			`[` + slow + `, {id: c, tool: post_question, suspend: true, needs: [], on_error: ask, input: {question: "C?", options: [x, y], timeout: 1h, timeoutAction: fail}}]`,
			`{b: {timeout: true}, c: [{timeout: true}, skip]}`, "b done 2h y (timeout), c skipped 1h",
		},
		"items": {
			`[{id: c, tool: post_question, suspend: true, foreach: [1, 2, 3], parallel: 3, input: {question: "{{ item }}?", options: [x, y], default: x, timeout: 1h}}]`,
			`{c: [{timeout: true}, y, {timeout: true}]}`, "c done 1h, c[0] done 1h x (timeout), c[1] done 0h y (human), c[2] done 1h x (timeout)",
		},
		"a repeat beside it": {
			`[{id: b, tool: post_question, suspend: true, needs: [], input: {question: "B?", options: [x, y], default: y, timeout: 3h}}, ` +
				`{id: c, tool: post_question, suspend: true, needs: [], repeat: {from: c, until: "steps.c.answer == 'y'", max: 5}, input: {question: "C?", options: [x, y], default: x, timeout: 2h}}]`,
			`{b: {timeout: true}, c: [{timeout: true}, y]}`, "b done 3h y (timeout), c done 2h x (timeout), c done 0h y (human)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := "name: late\ntriggers: [{manual: true}]\nsteps: " + tt.steps + "\n"
			report, err := workflow.Simulate(t.Context(), []byte(source), []byte("answers: "+tt.answers+"\n"), nil)
			if err != nil || report.Run == nil {
				t.Fatalf("%v %s", err, asJSON(report))
			}
			if got := endings(report.Run); got != tt.want {
				t.Errorf("got  %s\nwant %s\n%s", got, tt.want, report.Failures)
			}
		})
	}
}

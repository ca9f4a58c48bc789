package workflow

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/fermata-hq/fermata"
)

// checkExpectations compares the run with the expectations of the script.
func (r *simulation) checkExpectations(ctx context.Context, run *fermata.WorkflowRun) (*fermata.TestReport, error) {
	now, err := r.db.Now(ctx)
	if err != nil {
		return nil, err
	}
	rep, want := r.report, r.script.Expect
	rep.Run, rep.End = run, now
	if want.State != "" && want.State != run.State {
		r.addFailure("expected %s, but the run %s", want.State, describeEnd(run))
	}
	if want.Reason != "" && want.Reason != run.Reason {
		r.addFailure("the reason is %q, expected %q", run.Reason, want.Reason)
	}
	last := map[string]*fermata.WorkflowStep{}
	for _, s := range run.Steps {
		if s.Item == nil {
			last[s.Step] = s
		}
	}
	for _, id := range sortedKeys(want.Steps) {
		got := fermata.StepState("not reached")
		if s := last[id]; s != nil {
			got = s.State
		}
		if got != want.Steps[id] {
			r.addFailure("the step %s is %s, expected %s", id, got, want.Steps[id])
		}
	}
	r.compare("input", want.Input, func(id string) json.RawMessage { return last[id].Input }, last)
	r.compare("output", want.Output, func(id string) json.RawMessage { return last[id].Output }, last)
	for _, id := range sortedKeys(want.Asked) {
		if r.prompts[id] != want.Asked[id] {
			r.addFailure("the step %s asked %q, expected %q", id, r.prompts[id], want.Asked[id])
		}
	}
	rep.Passed = len(rep.Failures) == 0
	if run.State.IsEnded() {
		rep.Warnings = r.describeUnused()
	}
	if r.script.isGuessed {
		rep.Script, err = r.writeScript()
	}
	return rep, err
}

// describeUnused names the entries of the script that no question and no call used.
func (r *simulation) describeUnused() []string {
	var warnings []string
	warn := func(entry string, all, used int, why, none string) {
		switch left := all - used; {
		case left <= 0:
		case used == 0:
			warnings = append(warnings, fmt.Sprintf("%s: not used: %s", entry, none))
		default:
			were := map[bool]string{true: "was", false: "were"}[left == 1]
			warnings = append(warnings, fmt.Sprintf("%s: %d of %d entries %s not used: %s", entry, left, all, were, why))
		}
	}
	for _, step := range sortedKeys(r.script.Answers) {
		asked := countOf(r.askCounts[step], "answer")
		warn("answers."+step, len(r.script.Answers[step]), r.usedReplies[step], "the step "+step+" waited for "+asked, "the step "+step+" waited for no answer")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range sortedKeys(r.script.Tools) {
		warn("tools."+key, len(r.script.Tools[key]), r.callCounts[key], "there was "+countOf(r.callCounts[key], "call"), "there was no call")
	}
	return warnings
}

// countOf returns a number of things in words.
func countOf(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// describeEnd returns how a run ended and why, or where it waits, as the end of a sentence.
func describeEnd(run *fermata.WorkflowRun) string {
	switch {
	case !run.State.IsEnded() && run.Step == "":
		return fmt.Sprintf("has not ended (%s)", run.State)
	case !run.State.IsEnded():
		return fmt.Sprintf("waits at the step %s (%s)", run.Step, run.State)
	}
	if why := cmp.Or(run.Summary, run.Reason); why != "" {
		return fmt.Sprintf("is %s: %s", run.State, why)
	}
	return fmt.Sprintf("is %s", run.State)
}

func (r *simulation) compare(what string, want map[string]any, got func(id string) json.RawMessage, last map[string]*fermata.WorkflowStep) {
	for _, id := range sortedKeys(want) {
		if last[id] == nil {
			r.addFailure("the step %s was not reached", id)
			continue
		}
		if wanted := encodeJSON(want[id]); !reflect.DeepEqual(decodeJSON(wanted), decodeJSON(got(id))) {
			r.addFailure("the %s of the step %s is %s, expected %s", what, id, got(id), wanted)
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

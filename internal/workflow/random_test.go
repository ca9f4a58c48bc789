package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow"
	"github.com/fermata-hq/fermata/test/patience"
)

// randomStep is a step of a random workflow.
type randomStep struct {
	id    string
	kind  string
	needs []string
	// follows says that the step has no needs field: it needs the step above it.
	follows bool
	lenient bool
}

// randomSteps returns steps, each of which needs some of the steps above it.
func randomSteps(r *rand.Rand) []randomStep {
	kinds := []string{"note", "note", "ask", "approve", "reject", "fail", "wait", "skip"}
	var all []randomStep
	for i := range 3 + r.IntN(8) {
		s := randomStep{id: fmt.Sprintf("s%d", i), kind: kinds[r.IntN(len(kinds))], lenient: r.IntN(2) == 0, follows: i > 0 && r.IntN(3) == 0}
		for _, before := range all {
			if !s.follows && r.IntN(3) == 0 {
				s.needs = append(s.needs, before.id)
			}
		}
		if s.follows {
			s.needs = []string{all[i-1].id}
		}
		all = append(all, s)
	}
	return all
}

// yaml returns the step as YAML.
func (s *randomStep) yaml() string {
	needs := fmt.Sprintf(", needs: [%s]", strings.Join(s.needs, ", "))
	if s.follows {
		needs = ""
	}
	lenient := ""
	switch {
	case s.lenient && s.kind == "fail":
		lenient = ", on_error: continue"
	case s.lenient && s.kind == "reject":
		lenient = ", on_reject: skip"
	}
	does := map[string]string{
		"note": "tool: note", "fail": "tool: check", "wait": "tool: wait, input: {for: 2h}", "skip": "tool: note, condition: 'false'",
		"ask":     "tool: post_question, suspend: true, input: {question: 'Q?', options: [x], timeout: never}",
		"approve": "tool: request_approval, input: {title: 'Q?', action: {tool: make}, timeout: never}",
		"reject":  "tool: request_approval, input: {title: 'Q?', action: {tool: make}, timeout: never}",
	}[s.kind]
	return fmt.Sprintf("  - {id: %s%s%s, %s}\n", s.id, needs, lenient, does)
}

// expected returns the state in which each step must end. A step that is missing must not begin.
func expected(steps []randomStep) (ends map[string]fermata.StepState, state fermata.TaskState) {
	ends, state = map[string]fermata.StepState{}, fermata.TaskDone
	states := map[string]fermata.StepState{"fail": fermata.StepFailed, "reject": fermata.StepRejected, "skip": fermata.StepSkipped}
	stops := map[string]bool{}
	for _, s := range steps {
		if slices.ContainsFunc(s.needs, func(id string) bool { return stops[id] }) {
			stops[s.id] = true
			continue
		}
		ends[s.id] = fermata.StepDone
		if other := states[s.kind]; other != "" {
			ends[s.id] = other
		}
		if (s.kind == "fail" || s.kind == "reject") && !s.lenient {
			stops[s.id], state = true, fermata.TaskFailed
		}
	}
	return ends, state
}

// TestRandomForks runs random workflows on the server and in a simulation, and compares both with the expected states.
// No step may begin before all steps that it needs have ended.
func TestRandomForks(t *testing.T) {
	onBoth(t, func(w *world) {
		w.tools.on("check", func(context.Context, tool.Call) (any, error) { return nil, errors.New("no luck") })
		for seed := range uint64(12) {
			steps := randomSteps(rand.New(rand.NewPCG(seed, 7)))
			var source strings.Builder
			source.WriteString("name: random\ntriggers: [{manual: true}]\nsteps:\n")
			for i := range steps {
				source.WriteString(steps[i].yaml())
			}
			ends, state := expected(steps)
			run := w.run(source.String(), nil)
			w.answerRandom(run.ID, steps)
			got := map[string]fermata.StepState{}
			for _, s := range w.read(run.ID).Steps {
				got[s.Step] = s.State
			}
			if asJSON(got) != asJSON(ends) || w.read(run.ID).State != state {
				w.Errorf("seed %d: %s\ngot  %s, %s\nwant %s, %s", seed, source.String(), asJSON(got), w.read(run.ID).State, asJSON(ends), state)
			}
			w.checkOrder(run.ID, steps)
			w.compareTest(source.String(), steps, ends, state)
		}
	})
}

// answerRandom answers the questions of the run and advances the clock, until the run has ended.
func (w *world) answerRandom(id string, steps []randomStep) {
	w.Helper()
	kinds := map[string]string{}
	for _, s := range steps {
		kinds[s.id] = s.kind
	}
	patience.Await(w, "the run has ended", func() bool {
		run, answers := w.read(id), false
		for _, s := range slices.Backward(run.Steps) {
			if s.State != fermata.StepWaiting {
				continue
			}
			if s.QuestionID == "" {
				continue
			}
			q, err := w.Engine.Question(w.Context(), ann, s.QuestionID)
			if err != nil || q.Status != fermata.Pending {
				continue
			}
			w.answer(q, fermata.Answer{Answer: map[string]any{"ask": "x", "approve": fermata.Approve, "reject": fermata.Reject}[kinds[s.Step]]})
			answers = true
		}
		if (run.State == fermata.TaskBlocked || run.State == fermata.TaskDeferred) && !answers {
			w.Clock.Advance(3 * time.Hour)
		}
		return run.State.IsEnded()
	})
}

// checkOrder checks with the events that each step began after all steps that it needs had ended.
func (w *world) checkOrder(id string, steps []randomStep) {
	w.Helper()
	events, err := w.DB.Reader(w.Context(), store.DefaultWorkspace).Events(store.EventFilter{TaskID: id, Limit: 500})
	w.OK(err)
	ended := map[string]bool{}
	for _, e := range events {
		var told struct{ Step string }
		if e.Type != fermata.EventStepStarted && e.Type != fermata.EventStepFinished {
			continue
		}
		w.OK(json.Unmarshal(e.Data, &told))
		if e.Type == fermata.EventStepFinished {
			ended[told.Step] = true
			continue
		}
		at := slices.IndexFunc(steps, func(s randomStep) bool { return s.id == told.Step })
		for _, need := range steps[at].needs {
			if !ended[need] {
				w.Errorf("%s began before %s had ended", told.Step, need)
			}
		}
	}
}

// compareTest simulates the workflow, and checks that the steps end as in ends, and the run in state.
func (w *world) compareTest(source string, steps []randomStep, ends map[string]fermata.StepState, state fermata.TaskState) {
	w.Helper()
	script := map[string]any{"tools": map[string]any{"check": []any{map[string]any{"error": "no luck"}}}}
	if !slices.ContainsFunc(steps, func(s randomStep) bool { return s.kind == "fail" }) {
		delete(script, "tools")
	}
	answers := map[string]any{}
	for _, s := range steps {
		if said := map[string]string{"ask": "x", "approve": fermata.Approve, "reject": fermata.Reject}[s.kind]; said != "" {
			answers[s.id] = said
		}
	}
	script["answers"] = answers
	script["expect"] = map[string]any{"state": state, "steps": ends}
	report, err := workflow.Simulate(w.Context(), []byte(source), []byte(asJSON(script)), nil)
	w.OK(err)
	if !report.Passed {
		w.Errorf("%s\n%s\n%s", source, asJSON(script), asJSON(report.Failures))
	}
}

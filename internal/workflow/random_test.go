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
	// hours is the time limit of the step's question. 0 means that there is none.
	hours int
}

// randomSteps returns steps, each of which needs some of the steps above it.
func randomSteps(r *rand.Rand) []randomStep {
	kinds := []string{"note", "note", "ask", "approve", "reject", "fail", "wait", "skip", "command", "bad command", "slow command", "json command", "no json command", "text command", "no text command"}
	kinds = append(kinds, lateKinds...)
	var all []randomStep
	for i := range 3 + r.IntN(8) {
		s := randomStep{id: fmt.Sprintf("s%d", i), kind: kinds[r.IntN(len(kinds))], lenient: r.IntN(2) == 0, follows: i > 0 && r.IntN(3) == 0, hours: r.IntN(4)}
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

// fails reports whether the step fails.
func (s *randomStep) fails() bool {
	return slices.Contains([]string{"fail", "bad command", "slow command", "no json command", "no text command", "late failure"}, s.kind)
}

// yaml returns the step as YAML.
func (s *randomStep) yaml() string {
	needs := fmt.Sprintf(", needs: [%s]", strings.Join(s.needs, ", "))
	if s.follows {
		needs = ""
	}
	lenient := ""
	switch {
	case s.lenient && s.fails():
		lenient = ", on_error: continue"
	case s.lenient && s.kind == "reject":
		lenient = ", on_reject: skip"
	}
	const jsonCommand = "tool: shell, schema: {type: object, required: [n]}, input: {command: [make]}"
	const textCommand = "tool: shell, schema: {type: string}, input: {command: [make]}"
	timeout := "never"
	if s.hours > 0 {
		timeout = fmt.Sprintf("%dh", s.hours)
	}
	does := map[string]string{
		"text command": textCommand, "no text command": textCommand,
		"command": "tool: shell, input: {command: [make]}", "bad command": "tool: shell, input: {command: [make]}",
		"slow command": "tool: shell, timeout: 1s, input: {command: [make]}", "json command": jsonCommand, "no json command": jsonCommand,
		"note": "tool: note", "fail": "tool: check", "wait": "tool: wait, input: {for: 2h}", "skip": "tool: note, condition: 'false'",
		"ask":     "tool: post_question, suspend: true, input: {question: 'Q?', options: [x], timeout: " + timeout + "}",
		"approve": "tool: request_approval, input: {title: 'Q?', action: {tool: make}, timeout: " + timeout + "}",
		"reject":  "tool: request_approval, input: {title: 'Q?', action: {tool: make}, timeout: " + timeout + "}",
	}[s.kind]
	if slices.Contains(lateKinds, s.kind) {
		does = s.lateYAML()
	}
	return fmt.Sprintf("  - {id: %s%s%s, %s}\n", s.id, needs, lenient, does)
}

// expected returns the state in which each step must end. A step that is missing must not begin.
func expected(steps []randomStep) (ends map[string]fermata.StepState, state fermata.TaskState) {
	ends, state = map[string]fermata.StepState{}, fermata.TaskDone
	states := map[string]fermata.StepState{"reject": fermata.StepRejected, "skip": fermata.StepSkipped, "late remedy": fermata.StepSkipped}
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
		if s.fails() {
			ends[s.id] = fermata.StepFailed
		}
		if (s.fails() || s.kind == "reject") && !s.lenient {
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
		for seed := range uint64(16) {
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
			w.compareTest(source.String(), steps, ends, w.read(run.ID))
		}
	})
}

// answerRandom answers the questions of the run, ends its commands and advances the clock, until the run has ended.
func (w *world) answerRandom(id string, steps []randomStep) {
	w.Helper()
	kinds := map[string]string{}
	for _, s := range steps {
		kinds[s.id] = s.kind
	}
	patience.Await(w, "the run has ended", func() bool {
		before, err := w.Engine.Task(w.Context(), ann, id)
		w.OK(err)
		run, answers := w.read(id), false
		var instants []time.Time
		for _, s := range slices.Backward(run.Steps) {
			if s.State != fermata.StepWaiting {
				continue
			}
			if s.Until != nil {
				instants = append(instants, *s.Until)
			}
			if s.QuestionID == "" {
				continue
			}
			q, err := w.Engine.Question(w.Context(), ann, s.QuestionID)
			if err != nil || q.Status != fermata.Pending {
				continue
			}
			answer := replyTo(kinds[s.Step], s, q)
			if answer == nil {
				instants = append(instants, *q.Deadline)
				continue
			}
			w.answer(q, *answer)
			answers = true
		}
		answers = w.endCommand(kinds) || answers
		after, err := w.Engine.Task(w.Context(), ann, id)
		w.OK(err)
		isStopped := before.State == fermata.TaskBlocked || before.State == fermata.TaskDeferred || before.State.IsSuspended()
		if isStopped && before.Version == after.Version && !answers && len(instants) > 0 {
			if left := slices.MinFunc(instants, time.Time.Compare).Sub(w.Clock.Now()); left > 0 {
				w.Clock.Advance(left + time.Millisecond)
			}
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

// compareTest simulates the workflow, and checks that the steps end as in ends, and the run as on the server. Commands give
// the same outputs and errors, questions have the same answers, and each step takes the same time.
func (w *world) compareTest(source string, steps []randomStep, ends map[string]fermata.StepState, onServer *fermata.WorkflowRun) {
	w.Helper()
	tools, answers := map[string]any{}, map[string]any{}
	for _, s := range steps {
		if ending, ok := commandEndings[s.kind]; ok {
			tools[s.id] = json.RawMessage(ending.outcome)
		}
		if s.kind == "fail" {
			tools["check"] = []any{map[string]any{"error": "no luck"}}
		}
		if said := randomReplies[s.kind]; said != "" {
			answers[s.id] = json.RawMessage(said)
		}
	}
	script := asJSON(map[string]any{"tools": tools, "answers": answers, "expect": map[string]any{"state": onServer.State, "steps": ends}})
	report, err := workflow.Simulate(w.Context(), []byte(source), []byte(script), nil)
	w.OK(err)
	if !report.Passed {
		w.Fatalf("%s\n%s\n%s", source, script, asJSON(report.Failures))
	}
	want, got := commandResults(onServer, steps), commandResults(report.Run, steps)
	if want != got {
		w.Errorf("%s\n%s\nserver: %s\ntest:   %s", source, script, want, got)
	}
	if want, got := endings(onServer), endings(report.Run); want != got {
		w.Errorf("%s\n%s\nserver: %s\ntest:   %s", source, script, want, got)
	}
}

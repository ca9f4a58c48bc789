package workflow

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// Versions of the checkpoint format. A run that has left its main steps has format 2, and a run with parallel branches
// has format 3. An older version of Fermata refuses these formats. Otherwise it would take such a run for done.
const (
	stateFormat = 1
	phaseFormat = 2
	forkFormat  = 3
)

// state is the data of a run besides the rows of its steps. It is the checkpoint of the run's task.
type state struct {
	Format int `json:"format"`
	// position is the current position of the run. Others are the other positions of a run with parallel branches.
	position
	Others []position `json:"others,omitempty"`
	// Passed are the steps that the run has passed, in phases that fork.
	Passed []string `json:"passed,omitempty"`
	// Failing is the outcome of the run after a step failed, while parallel steps are still under way.
	Failing *outcome `json:"failing,omitempty"`
	// Vars are the injected values.
	Vars map[string]any `json:"vars,omitempty"`
	// Visits counts the occurrences of each step. Hidden holds the last occurrence of each step whose output a jump
	// back made null again.
	Visits map[string]int `json:"visits,omitempty"`
	Hidden map[string]int `json:"hidden,omitempty"`
	// UncountedVisits holds the visits that do not count for max_iterations: those before the run was retried or sent back, or
	// before a round of a repeat began.
	UncountedVisits map[string]int `json:"before,omitempty"`
	// Rounds counts how often the run went back after each step with a repeat.
	Rounds map[string]int `json:"rounds,omitempty"`
	// Phase is the phase in which the run is; empty for the main one.
	Phase definition.Phase `json:"phase,omitempty"`
	// Outcome is the result of the run once its main steps have ended.
	Outcome *outcome `json:"outcome,omitempty"`
}

// position is one position of a run. A run with parallel branches has one for each branch.
type position struct {
	// Next is the step to do next, or the step under way; empty after the last one.
	Next string `json:"next,omitempty"`
	// WaitsFor says what the step Next waits for; empty if it does not wait.
	WaitsFor waitKind `json:"waits,omitempty"`
	// TaskIDs are the tasks for which the step waits. They are set only if the run has other positions,
	// too.
	TaskIDs []string `json:"on,omitempty"`
	// RepeatStep is the step Next if it has ended and the condition of its repeat was not evaluated yet.
	RepeatStep string `json:"left,omitempty"`
	// Redo says that the step Next failed and will be done again.
	Redo bool `json:"again,omitempty"`
	// Input replaces the rendered input until the run leaves the step.
	Input json.RawMessage `json:"input,omitempty"`
	// InputBy is the name of the person that gave Input.
	InputBy string `json:"input_by,omitempty"`
	// Feedback is the comment of the person that sent the run back to the step Next. It is kept until the run leaves
	// the step.
	Feedback string `json:"feedback,omitempty"`
	// TimedOutStep is the step whose question nobody answered, while its on_timeout action is under way.
	TimedOutStep string `json:"silent,omitempty"`
}

// nextAttempt returns the position for another attempt of its step.
func (p *position) nextAttempt() position {
	return position{Next: p.Next, RepeatStep: p.RepeatStep, TimedOutStep: p.TimedOutStep, Feedback: p.Feedback, Redo: true}
}

// waitKind says what a step under way waits for.
type waitKind string

const (
	// waitForPerson waits for the answer to the step's question.
	waitForPerson waitKind = "person"
	// waitForRemedy waits for a person to decide about an error.
	waitForRemedy waitKind = "remedy"
	// waitForChildren waits for the end of tasks that the step created.
	waitForChildren waitKind = "children"
	// waitForTime waits for an instant.
	waitForTime waitKind = "time"
	// waitForRetry waits for the next attempt.
	waitForRetry waitKind = "retry"
)

func newState(w *definition.Workflow) *state {
	st := &state{Format: stateFormat}
	st.enterPhase(w, definition.MainPhase)
	return st
}

// enterPhase moves the run to the beginning of a phase.
func (st *state) enterPhase(w *definition.Workflow, phase definition.Phase) {
	roots := w.Roots(phase)
	st.Passed = removeNames(st.Passed, func(id string) bool { s := w.Step(id); return s == nil || s.Phase == phase })
	st.position, st.Others = position{Next: w.First(phase).ID}, nil
	for _, root := range roots[min(1, len(roots)):] {
		st.Others = append(st.Others, position{Next: root.ID})
	}
}

// removeNames returns the names for which isRemoved is false.
func removeNames(names []string, isRemoved func(name string) bool) []string {
	return slices.DeleteFunc(slices.Clone(names), isRemoved)
}

// readState decodes a checkpoint. It returns nil if the run has none yet.
func readState(checkpoint json.RawMessage) (*state, error) {
	if len(checkpoint) == 0 {
		return nil, nil
	}
	st := &state{}
	value, err := definition.DecodeJSON(checkpoint)
	if err == nil {
		err = json.Unmarshal(checkpoint, st)
	}
	if err != nil || st.Format < stateFormat || st.Format > forkFormat {
		return nil, fermata.Errorf(fermata.CodeInternal, "the checkpoint of the run has a format that this version does not read").
			WithHint("start a new run, or go back to the version that wrote it")
	}
	if whole, ok := value.(map[string]any); ok {
		// DecodeJSON decodes whole numbers as integers. Unmarshal has made them floating-point numbers.
		st.Vars, _ = whole["vars"].(map[string]any)
	}
	return st, nil
}

// bytes returns the checkpoint. It is null for a run that has not begun.
func (st *state) bytes() json.RawMessage {
	if st != nil {
		st.Format = stateFormat
		if st.Phase != "" || st.Outcome != nil {
			st.Format = phaseFormat
		}
		if len(st.Others) > 0 || len(st.Passed) > 0 || st.Failing != nil {
			st.Format = forkFormat
		}
	}
	return encodeJSON(st)
}

// retryStep makes the run continue at the step at which it ended or failed.
func (st *state) retryStep(input json.RawMessage, by string) {
	if st == nil {
		return
	}
	if o := st.Outcome; o != nil {
		st.Next, st.TimedOutStep, st.Others, st.UncountedVisits = o.Next, o.TimedOutStep, o.Others, maps.Clone(st.Visits)
		st.goBack(o.Phase)
	}
	if failed := st.Failing; failed != nil {
		// A branch had failed before the run ended at another step. That branch is done again, too.
		st.Others = append(append(slices.Clip(st.Others), retryPosition(failed)), failed.Others...)
		st.Failing = nil
	}
	st.position = st.nextAttempt()
	st.Input, st.InputBy = input, by
	for i := range st.Others {
		st.Others[i] = st.Others[i].nextAttempt()
	}
}

// retryPoint returns the step at which the run continues when it is retried.
func (st *state) retryPoint() string {
	switch {
	case st == nil:
		return ""
	case st.Outcome != nil:
		return st.Outcome.Next
	default:
		return st.Next
	}
}

// leave clears the data of the step that the run leaves.
func (st *state) leave() {
	st.position = position{Next: st.Next}
}

// visit begins an occurrence of a step and returns its number.
func (st *state) visit(step string) int {
	if st.Visits == nil {
		st.Visits = map[string]int{}
	}
	st.Visits[step]++
	return st.Visits[step]
}

// inject stores a value under a name that expressions can read.
func (st *state) inject(name string, v any) {
	if st.Vars == nil {
		st.Vars = map[string]any{}
	}
	st.Vars[name] = v
}

// hide makes the outputs of steps null again.
func (st *state) hide(steps []*definition.Step) {
	if st.Hidden == nil {
		st.Hidden = map[string]int{}
	}
	for _, step := range steps {
		if n := st.Visits[step.ID]; n > 0 {
			st.Hidden[step.ID] = n
		}
	}
}

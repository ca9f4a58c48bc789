package workflow

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// Versions of what checkpoints hold. A run that is behind its main steps has the second, and one with steps side by side has the
// third: a version of Fermata that does not know of them would take the run for done.
const (
	stateFormat = 1
	phaseFormat = 2
	forkFormat  = 3
)

// state is what a run keeps beside its steps: the checkpoint of its task.
type state struct {
	Format int `json:"format"`
	// The place where the run is, and the others where it is at the same time.
	place
	Others []place `json:"others,omitempty"`
	// Passed are the steps that the run has passed, in lists that fork.
	Passed []string `json:"passed,omitempty"`
	// Failing is the outcome of the run after a step failed, while steps beside it are under way.
	Failing *outcome `json:"failing,omitempty"`
	// Vars are the injected values.
	Vars map[string]any `json:"vars,omitempty"`
	// Visits counts the occurrences of steps; Hidden are those whose outputs a
	// jump back made null again.
	Visits map[string]int `json:"visits,omitempty"`
	Hidden map[string]int `json:"hidden,omitempty"`
	// Before are the visits before the run was tried again: they do not count for the limit.
	Before map[string]int `json:"before,omitempty"`
	// Rounds counts how often the run went back from behind a step.
	Rounds map[string]int `json:"rounds,omitempty"`
	// Phase is the list of steps that the run is in; empty is the main one.
	Phase definition.Phase `json:"phase,omitempty"`
	// Outcome is how the run went, once its main steps have ended.
	Outcome *outcome `json:"outcome,omitempty"`
}

// place is where a run is.
type place struct {
	// Next is the step to do next, or that is under way; empty behind the last.
	Next string `json:"next,omitempty"`
	// Waits says what the step Next waits for; empty if it does not wait.
	Waits waits `json:"waits,omitempty"`
	// On are the tasks for which the step waits. It is set only if the run is at other places, too.
	On []string `json:"on,omitempty"`
	// Left is the step Next if it has ended, and the condition of its repeat was not evaluated yet.
	Left string `json:"left,omitempty"`
	// Again says that the step Next failed, and is done once more.
	Again bool `json:"again,omitempty"`
	// Input takes the place of the rendered one until the step is left.
	Input json.RawMessage `json:"input,omitempty"`
	// InputBy is who gave Input.
	InputBy string `json:"input_by,omitempty"`
	// Feedback is what a person said who sent the run back to the step Next. It is kept until the step is left.
	Feedback string `json:"feedback,omitempty"`
	// Silent is the step whose question nobody answered: what is to be done
	// about that is under way.
	Silent string `json:"silent,omitempty"`
}

// nextAttempt returns the place for a further attempt of its step.
func (p *place) nextAttempt() place {
	return place{Next: p.Next, Left: p.Left, Silent: p.Silent, Feedback: p.Feedback, Again: true}
}

// waits is what a step that is under way waits for.
type waits string

const (
	// waitsPerson: the answer to its question.
	waitsPerson waits = "person"
	// waitsRemedy: what a person says is to be done about an error.
	waitsRemedy waits = "remedy"
	// waitsChildren: the end of tasks that it made.
	waitsChildren waits = "children"
	// waitsTime: an instant.
	waitsTime waits = "time"
	// waitsRetry: the next attempt.
	waitsRetry waits = "retry"
)

func newState(w *definition.Workflow) *state {
	st := &state{Format: stateFormat}
	st.begin(w, definition.MainPhase)
	return st
}

// begin moves the run to the beginning of a list of steps.
func (st *state) begin(w *definition.Workflow, phase definition.Phase) {
	first := w.Roots(phase)
	st.Passed = removeNames(st.Passed, func(id string) bool { s := w.Step(id); return s == nil || s.Phase == phase })
	st.place, st.Others = place{Next: w.First(phase).ID}, nil
	for _, also := range first[min(1, len(first)):] {
		st.Others = append(st.Others, place{Next: also.ID})
	}
}

// removeNames returns the names for which out is false.
func removeNames(names []string, out func(name string) bool) []string {
	return slices.DeleteFunc(slices.Clone(names), out)
}

// readState reads a checkpoint; nil for a run that has none yet.
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
		// Numbers keep being whole where they were.
		st.Vars, _ = whole["vars"].(map[string]any)
	}
	return st, nil
}

// bytes returns the checkpoint. That of a run that has not begun is null.
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
	return data(st)
}

// retryStep makes the run go on at the step at which it ended, or at which it failed.
func (st *state) retryStep(input json.RawMessage, by string) {
	if st == nil {
		return
	}
	if o := st.Outcome; o != nil {
		st.Next, st.Silent, st.Others, st.Before = o.Next, o.Silent, o.Others, maps.Clone(st.Visits)
		st.goBack(o.Phase)
	}
	st.place = st.nextAttempt()
	st.Input, st.InputBy = input, by
	for i := range st.Others {
		st.Others[i] = st.Others[i].nextAttempt()
	}
}

// retryPoint returns the step at which the run goes on when it is retried.
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

// leave forgets what belongs to the step that the run leaves.
func (st *state) leave() {
	st.place = place{Next: st.Next}
}

// visit begins an occurrence of a step.
func (st *state) visit(step string) int {
	if st.Visits == nil {
		st.Visits = map[string]int{}
	}
	st.Visits[step]++
	return st.Visits[step]
}

// inject keeps a value under a name.
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

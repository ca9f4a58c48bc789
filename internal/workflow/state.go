package workflow

import (
	"encoding/json"
	"maps"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// Versions of what checkpoints hold. A run that is behind its main steps has the second: a version of Fermata that knows the
// main steps alone would take it for done.
const (
	stateFormat = 1
	phaseFormat = 2
)

// state is what a run keeps beside its steps: the checkpoint of its task.
type state struct {
	Format int `json:"format"`
	// Next is the step to do next, or that is under way; empty behind the last.
	Next string `json:"next,omitempty"`
	// Waits says that the step Next is under way, and for what.
	Waits waits `json:"waits,omitempty"`
	// Vars are the injected values.
	Vars map[string]any `json:"vars,omitempty"`
	// Visits counts the occurrences of steps; Hidden are those whose outputs a
	// jump back made null again.
	Visits map[string]int `json:"visits,omitempty"`
	Hidden map[string]int `json:"hidden,omitempty"`
	// Before are the visits before the run was tried again: they do not count for the limit.
	Before map[string]int `json:"before,omitempty"`
	// Left is the step that the run has just left, if it has a repeat that was not looked at yet.
	Left string `json:"left,omitempty"`
	// Rounds counts how often the run went back from behind a step.
	Rounds map[string]int `json:"rounds,omitempty"`
	// Again says that the step Next failed, and is done once more.
	Again bool `json:"again,omitempty"`
	// Input takes the place of the rendered one until the step is left.
	Input json.RawMessage `json:"input,omitempty"`
	// InputBy is who gave Input.
	InputBy string `json:"input_by,omitempty"`
	// Phase is the list of steps that the run is in; empty is the main one.
	Phase definition.Phase `json:"phase,omitempty"`
	// Outcome is how the run went, once its main steps have ended.
	Outcome *outcome `json:"outcome,omitempty"`
	// Silent is the step whose question nobody answered: what is to be done
	// about that is under way.
	Silent string `json:"silent,omitempty"`
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
	return &state{Format: stateFormat, Next: w.Steps[0].ID}
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
	if err != nil || st.Format != stateFormat && st.Format != phaseFormat {
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
	}
	return data(st)
}

// retried makes the run go on at the step at which it ended, or at which it failed.
func (st *state) retried(input json.RawMessage, by string) {
	if st == nil {
		return
	}
	if o := st.Outcome; o != nil {
		st.Next, st.Silent, st.Before = o.Next, o.Silent, maps.Clone(st.Visits)
		st.goBack(o.Phase)
	}
	st.Waits, st.Again, st.Input, st.InputBy = "", true, input, by
}

// at returns the step at which the run goes on when it is retried.
func (st *state) at() string {
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
	st.Waits, st.Input, st.InputBy, st.Silent, st.Again = "", nil, "", "", false
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

// hideAfter makes the outputs of the steps behind a place null again.
func (st *state) hideAfter(w *definition.Workflow, at int) {
	if st.Hidden == nil {
		st.Hidden = map[string]int{}
	}
	for i := at + 1; i < len(w.Steps); i++ {
		if n := st.Visits[w.Steps[i].ID]; n > 0 {
			st.Hidden[w.Steps[i].ID] = n
		}
	}
}

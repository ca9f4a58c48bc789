package workflow

import (
	"context"
	"fmt"

	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// codeRounds is the error of a step that was repeated as often as it may be.
const codeRounds = "repeated_in_vain"

// repeat goes back from behind a step until its condition is true. A step that was repeated in vain fails the run, also with
// on_error: continue. A person who tries the step again gives it the same number of rounds once more.
func (x *execution) repeat(ctx context.Context, step *definition.Step) error {
	x.st.Left, x.st.Next = "", step.ID
	row := x.current(step.ID)
	until, err := step.Repeat.Until.Bool(x.env(row))
	switch {
	case err != nil:
		err = permanentError(codeCondition, fmt.Errorf("repeat.until: %w", err))
	case until:
		delete(x.st.Rounds, step.ID)
		x.passStep(step)
		return nil
	case x.st.Rounds[step.ID]+1 >= step.Repeat.Max:
		err = permanentError(codeRounds, fmt.Errorf("it was done %d times, and repeat.until is still false", step.Repeat.Max))
	default:
		x.goRound(step)
		return nil
	}
	delete(x.st.Rounds, step.ID)
	last := *step
	if last.OnError == definition.OnErrorContinue {
		last.OnError = definition.OnErrorFail
	}
	return x.handleFailure(ctx, &last, row, err)
}

// goRound goes back to the first step of a round. The outputs of the round before stay until their steps are done again. Rounds do
// not count for max_iterations.
func (x *execution) goRound(step *definition.Step) {
	rounds := x.st.Rounds[step.ID] + 1
	first := x.def.Step(step.Repeat.From)
	between := x.def.Between(first, step)
	x.st.leave()
	x.moveTo(first, between)
	x.forgetRounds(first, true)
	if x.st.Rounds == nil {
		x.st.Rounds = map[string]int{}
	}
	x.st.Rounds[step.ID] = rounds
	if x.st.Before == nil {
		x.st.Before = map[string]int{}
	}
	for _, again := range between {
		x.st.Before[again.ID] = x.st.Visits[again.ID]
	}
}

// forgetRounds resets the counters of all steps whose rounds begin behind a step. If counts is true, it also resets those whose
// rounds begin at the step.
func (x *execution) forgetRounds(at *definition.Step, counts bool) {
	for id := range x.st.Rounds {
		step := x.def.Step(id)
		if step == nil || step.Repeat == nil {
			delete(x.st.Rounds, id)
			continue
		}
		if from := x.def.Step(step.Repeat.From); from != nil && x.def.Reaches(at, from) && (counts || from != at) {
			delete(x.st.Rounds, id)
		}
	}
}

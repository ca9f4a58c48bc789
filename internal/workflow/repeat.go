package workflow

import (
	"context"
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// codeRounds is the error code of a step that used up its rounds.
const codeRounds = "repeated_in_vain"

// repeat evaluates the condition of a step's repeat, and goes back to the first step of the round until the condition
// is true. A step that used up its rounds fails the run, even with on_error: continue. A person that retries the step
// gives it the same number of rounds again.
func (x *execution) repeat(ctx context.Context, step *definition.Step) error {
	if x.isFailingFast() {
		return x.cancelPosition(ctx)
	}
	x.st.RepeatStep, x.st.Next = "", step.ID
	row := x.currentRow(step.ID)
	until, err := step.Repeat.Until.Bool(x.env(row))
	switch {
	case err != nil:
		err = permanentError(codeCondition, fmt.Errorf("repeat.until: %w", err))
	case until:
		delete(x.st.Rounds, step.ID)
		x.passStep(step)
		return nil
	case x.st.Rounds[step.ID]+1 >= step.Repeat.Max:
		err = roundsError(step.Repeat.Max, row.Error)
	default:
		x.beginRound(step)
		return nil
	}
	delete(x.st.Rounds, step.ID)
	last := *step
	if last.OnError == definition.OnErrorContinue {
		last.OnError = definition.OnErrorFail
	}
	return x.handleFailure(ctx, &last, row, err)
}

// roundsError returns the failure of a step that used up its rounds. It includes the failure of the last round, which is
// nil if the step was done.
func roundsError(rounds int, last *fermata.StepError) error {
	failure := &stepError{code: codeRounds, err: fmt.Errorf("it was done %d times, and repeat.until is still false", rounds), permanent: true}
	if last != nil {
		failure.err = fmt.Errorf("%w; the last time it failed: %s", failure.err, last.Message)
		failure.output = &commandOutput{ExitCode: last.ExitCode, Stdout: last.Stdout, Stderr: last.Stderr}
	}
	return failure
}

// beginRound goes back to the first step of a round. The outputs of the previous round stay until their steps are done
// again. Rounds do not count for max_iterations.
func (x *execution) beginRound(step *definition.Step) {
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
	if x.st.UncountedVisits == nil {
		x.st.UncountedVisits = map[string]int{}
	}
	for _, again := range between {
		x.st.UncountedVisits[again.ID] = x.st.Visits[again.ID]
	}
}

// roundOf returns the round in which a step is, from 1, as repeat.max counts it. Outside of a repetition it is 1.
func (x *execution) roundOf(id string) int {
	step := x.def.Step(strings.TrimSuffix(id, timeoutSuffix))
	if step == nil {
		return 1
	}
	last := x.def.RepeatAround(step)
	if last == nil {
		return 1
	}
	return x.st.Rounds[last.ID] + 1
}

// forgetRounds resets the counters of all steps whose rounds begin after a step. If inclusive is true, it also resets
// the steps whose rounds begin at the step itself.
func (x *execution) forgetRounds(start *definition.Step, inclusive bool) {
	for id := range x.st.Rounds {
		step := x.def.Step(id)
		if step == nil || step.Repeat == nil {
			delete(x.st.Rounds, id)
			continue
		}
		if from := x.def.Step(step.Repeat.From); from != nil && x.def.Reaches(start, from) && (inclusive || from != start) {
			delete(x.st.Rounds, id)
		}
	}
}

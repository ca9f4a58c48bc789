package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// proceed does the steps of a run until the run stops or ends. A run with several positions moves at one of them at a
// time.
func (x *execution) proceed(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer func() {
		cancel(errStopped)
		x.awaitCalls()
		x.endWatch()
	}()
	if err := x.takeLateAnswer(ctx); err != nil {
		return err
	}
	if err := x.findParked(ctx); err != nil {
		return err
	}
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := x.moveOnce(ctx); err != nil && !errors.Is(err, errParked) {
			return err
		}
	}
}

// moveOnce makes one move of the run: it takes the result of a call, or moves at a position that does not wait. If it can
// do neither, it waits until a call returns or a position can continue. Without calls, it stops the run.
func (x *execution) moveOnce(ctx context.Context) error {
	switch {
	case len(x.pendingResults) > 0:
		return x.takeResult(ctx)
	case x.pickPosition():
		return x.advance(ctx)
	case len(x.activeCalls) == 0:
		return x.stopParked(ctx)
	default:
		return x.awaitChange(ctx)
	}
}

// advance makes one move at the current position of the run.
func (x *execution) advance(ctx context.Context) error {
	if step := x.def.Step(x.st.TimedOutStep); step != nil {
		return x.doTimeoutAction(ctx, step)
	}
	if repeated := x.def.Step(x.st.RepeatStep); repeated != nil {
		return x.repeat(ctx, repeated)
	}
	step := x.def.Step(x.st.Next)
	switch {
	case step == nil:
		return x.leavePhase(ctx)
	case x.st.WaitsFor != "":
		return x.resumeStep(ctx, step)
	default:
		return x.doStep(ctx, step)
	}
}

// resumeStep continues a step if the event that it waits for has happened.
func (x *execution) resumeStep(ctx context.Context, step *definition.Step) error {
	row := x.currentRow(step.ID)
	if row == nil {
		x.st.WaitsFor = ""
		return nil
	}
	switch x.st.WaitsFor {
	case waitForPerson, waitForRemedy:
		q, err := x.question(ctx, row)
		switch {
		case err != nil:
			return err
		case q.Status == fermata.Pending && q.TaskID != x.run.ID:
			return x.parkOn(ctx, nil, q.TaskID)
		case q.Status == fermata.Pending:
			return x.stop(ctx, (*engine.LeasedRun).SuspendAgain)
		case x.st.WaitsFor == waitForRemedy:
			return x.applyRemedy(ctx, step, row, q)
		}
		return x.handleClosedQuestion(ctx, step, row, q)
	case waitForChildren:
		return x.gather(ctx, step, row)
	case waitForTime:
		return x.endWait(ctx, step, row)
	case waitForRetry:
		if row.Until != nil && x.now.Before(*row.Until) {
			return x.parkOn(ctx, row.Until)
		}
		x.st.WaitsFor = ""
	}
	return nil
}

// maxNotedFeedback limits how many characters of a person's feedback the note of a step holds.
const maxNotedFeedback = 200

// doStep begins an occurrence of a step, or continues one.
func (x *execution) doStep(ctx context.Context, step *definition.Step) error {
	row := x.currentRow(step.ID)
	isRedo := x.st.Redo
	x.st.Redo = false
	switch {
	case row != nil && isRedo && row.State.IsEnded():
		row.Attempt++
		row = x.begin(step, row.Occurrence, nil)
	case row != nil && !row.State.IsEnded():
		row = x.begin(step, row.Occurrence, nil)
	default:
		if visits := x.st.Visits[step.ID] - x.st.UncountedVisits[step.ID]; visits >= x.def.MaxIterations && visits > 0 {
			return x.endUnsuccessfully(ctx, fermata.TaskFailed, fermata.ReasonTooManyIterations,
				fmt.Sprintf("The run came to the step %s again, and max_iterations lets it do a step %s.", step.ID, timesText(x.def.MaxIterations)))
		}
		row = x.begin(step, x.st.visit(step.ID), nil)
		if x.st.Feedback != "" {
			addNote(row, x.hideInText("sent back: "+truncate(x.st.Feedback, maxNotedFeedback)))
		}
	}
	if step.Condition != nil && len(row.Input) == 0 {
		holds, err := step.Condition.Bool(x.env(row))
		if err != nil {
			return x.handleFailure(ctx, step, row, permanentError("condition_error", err))
		}
		if !holds {
			row.Note = "the condition is false"
			row.End(fermata.StepSkipped, x.now)
			x.leaveStep(step)
			return nil
		}
	}
	if step.Foreach != nil {
		return x.doEach(ctx, step, row, nil)
	}
	input, err := x.input(step, row, x.env(row))
	if err != nil {
		return x.handleInputError(ctx, step, row, err)
	}
	return x.runTool(ctx, step, row, input)
}

// timesText returns how often something happens, in words.
func timesText(n int) string {
	if n == 1 {
		return "only once"
	}
	return fmt.Sprintf("only %d times", n)
}

// input renders the input of a step, or takes the input that a person gave instead. It returns an error if the tool of
// the step does not take it.
func (x *execution) input(step *definition.Step, row *fermata.WorkflowStep, env definition.Env) (map[string]any, error) {
	var input map[string]any
	switch {
	case step == definition.FailureComment:
		input = map[string]any{"body": x.failureComment()}
	case len(x.st.Input) > 0:
		var err error
		if input, err = x.restoreSecrets(step, decodeObject(x.st.Input)); err != nil {
			return nil, err
		}
		row.Note = "with another input, by " + x.st.InputBy
	default:
		var err error
		if input, err = renderInput(step, env); err != nil {
			return nil, err
		}
	}
	doc := x.storedJSON(input)
	if err := checkInputSize(doc); err != nil {
		return nil, err
	}
	row.Input = doc
	x.touch(row)
	return input, x.checkInput(step, row, input)
}

// renderInput renders the input of a step.
func renderInput(step *definition.Step, env definition.Env) (map[string]any, error) {
	rendered, err := step.Input.Render(env)
	if err != nil {
		return nil, err
	}
	if rendered == nil {
		return map[string]any{}, nil
	}
	input, ok := rendered.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("input is no object")
	}
	return input, nil
}

// checkInputSize returns an error if an input is too long to be stored and handed on.
func checkInputSize(doc json.RawMessage) error {
	if len(doc) > fermata.MaxStepInput {
		return fermata.Errorf(fermata.CodeInvalidRequest, "the input has %d bytes, a step may take %d", len(doc), fermata.MaxStepInput).
			WithHint("hand on the parts that the step needs, or an address where the rest is")
	}
	return nil
}

// runTool does the work of a step's tool.
func (x *execution) runTool(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, input map[string]any) error {
	switch step.Tool {
	case toolQuestion, toolApproval:
		return x.ask(ctx, step, row, input)
	case toolWait:
		return x.wait(ctx, step, row, input)
	}
	if d, ok := x.s.builtInDelegation(step.Tool); ok {
		return x.delegate(ctx, step, row, d, []unit{{row: row, input: input}}, nil)
	}
	named, err := x.namedTool(ctx, step.Tool)
	if err != nil {
		return err
	}
	if named != nil && named.Server == nil {
		return x.delegate(ctx, step, row, namedToolDelegation(named), []unit{{row: row, input: input}}, nil)
	}
	x.noteInterruption(row, interruptedCall)
	// The start is saved before the call can have any effect.
	if err := x.commit(ctx, nil); err != nil {
		return err
	}
	return x.scheduleCalls(ctx, &stepCalls{step: step, named: named, unstartedUnits: []unit{{row: row, input: input}}, maxOpen: 1})
}

// noteInterruption adds a note to a step whose work begins again, because the server was stopped or killed meanwhile.
func (x *execution) noteInterruption(row *fermata.WorkflowStep, note string) {
	if x.interrupted[row] && !strings.Contains(row.Note, note) {
		addNote(row, note)
	}
}

const (
	interruptedCall = "done again: the server was interrupted during the call"
	// interruptedItems is the note of a step with items. Which of its open items were called already is not known.
	interruptedItems = "its open items were done again: the server was interrupted during the calls"
)

// endCall ends a step with the result of its call.
func (x *execution) endCall(ctx context.Context, r callResult) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	step, row, err := r.calls.step, r.unit.row, r.err
	if err == nil {
		err = x.storeOutput(step, row, r.output)
	}
	if err != nil {
		return x.handleFailure(ctx, step, row, err)
	}
	if r.note != "" {
		addNote(row, x.hideInText(r.note))
	}
	if err := x.finish(ctx, row, fermata.StepDone); err != nil {
		return err
	}
	x.leaveStep(step)
	return nil
}

// finish ends a row at the time of the database's clock.
func (x *execution) finish(ctx context.Context, row *fermata.WorkflowStep, state fermata.StepState) error {
	now, err := x.s.db.Now(ctx)
	if err != nil {
		return err
	}
	x.now = now
	row.End(state, now)
	x.touch(row)
	return nil
}

// leaveStep moves the run past a step. A step with a repeat is left only if its condition is true: see [execution.repeat].
func (x *execution) leaveStep(step *definition.Step) {
	if step.Repeat == nil {
		x.passStep(step)
		return
	}
	x.st.leave()
	x.st.RepeatStep = step.ID
}

// jump moves the run to another step. A jump forward skips the steps between. A jump back makes their outputs null
// again.
func (x *execution) jump(from *definition.Step, id string) {
	x.st.leave()
	to := x.def.Step(id)
	if x.def.Reaches(to, from) {
		stepsAfter := x.def.Between(to, nil)
		x.st.hide(stepsAfter[1:])
		x.forgetRounds(to, false)
		x.moveTo(to, stepsAfter)
		return
	}
	between := x.def.Between(from, to)
	for _, step := range between[1 : len(between)-1] {
		row := x.begin(step, x.st.visit(step.ID), nil)
		row.Note = "jumped over"
		row.End(fermata.StepSkipped, x.now)
	}
	x.moveTo(to, nil)
	if x.def.Forks(to.Phase) {
		for _, step := range between[:len(between)-1] {
			x.st.Passed = append(slices.Clip(x.st.Passed), step.ID)
		}
		x.beginBranches([]*definition.Step{to})
	}
}

// moveTo moves the current position of the run to a step. The steps in redoneSteps count as not passed.
func (x *execution) moveTo(to *definition.Step, redoneSteps []*definition.Step) {
	x.st.Next = to.ID
	x.st.Passed = removeNames(x.st.Passed, func(id string) bool {
		return slices.ContainsFunc(redoneSteps, func(step *definition.Step) bool { return step.ID == id })
	})
}

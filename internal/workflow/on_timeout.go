package workflow

import (
	"context"
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// handleQuestionTimeout continues the run after the step's question timed out with the timeout outcome "skip".
func (x *execution) handleQuestionTimeout(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep) error {
	row.Note = nobodyAnswered
	if err := x.finish(ctx, row, fermata.StepSkipped); err != nil {
		return err
	}
	return x.doTimeoutAction(ctx, step)
}

// doTimeoutAction does the on_timeout action of a step whose question nobody answered. If the process was lost during
// the action, the action continues in the same occurrence.
func (x *execution) doTimeoutAction(ctx context.Context, step *definition.Step) error {
	action := x.def.Timeout(step)
	switch {
	case action == nil && step.MayBeApproval():
		return x.endTimedOut(ctx, step)
	case action == nil:
		x.leaveStep(step)
		return nil
	case action.Tool != "":
		return x.doTimeoutTool(ctx, step, action)
	}
	return x.leaveTimedOut(ctx, step, action)
}

// leaveTimedOut moves the run to the step that the on_timeout action names. It ends the run if the action names none.
func (x *execution) leaveTimedOut(ctx context.Context, step *definition.Step, action *definition.TimeoutAction) error {
	x.st.leave()
	if action.Goto != "" {
		x.jump(step, action.Goto)
		return nil
	}
	return x.endTimedOut(ctx, step)
}

// endTimedOut ends the run as skipped, because nobody answered the step's
// question.
func (x *execution) endTimedOut(ctx context.Context, step *definition.Step) error {
	return x.endUnsuccessfully(ctx, fermata.TaskSkipped, fermata.ReasonQuestionTimedOut, fmt.Sprintf("Nobody answered the question of the step %s in time.", step.ID))
}

// timeoutStep returns the name of the step that does the on_timeout action. The
// graph uses the same name.
func timeoutStep(step *definition.Step) string { return step.ID + timeoutSuffix }

const timeoutSuffix = ".on_timeout"

// doTimeoutTool calls the tool in the on_timeout action of a step. The run continues only if the tool succeeds. If the
// tool fails, it is called again later, or the run fails.
func (x *execution) doTimeoutTool(ctx context.Context, step *definition.Step, action *definition.TimeoutAction) error {
	x.st.TimedOutStep = step.ID
	actionStep := &definition.Step{ID: timeoutStep(step), Tool: action.Tool, Input: action.Input, Line: step.Line}
	row := x.beginTimeoutTool(actionStep)
	input, err := x.input(actionStep, row, x.env(row))
	if err != nil {
		return x.failTimeoutTool(ctx, step, actionStep, row, permanentError(codeInput, err))
	}
	x.noteInterruption(row, interruptedCall)
	// The start is saved before the call can have any effect.
	if err := x.commit(ctx, nil); err != nil {
		return err
	}
	err = x.callTimeoutTool(ctx, actionStep, row, input)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return x.failTimeoutTool(ctx, step, actionStep, row, err)
	}
	if err := x.finish(ctx, row, fermata.StepDone); err != nil {
		return err
	}
	return x.leaveTimedOut(ctx, step, action)
}

// beginTimeoutTool begins the step of an on_timeout action, or begins it again if it failed or its process was lost.
func (x *execution) beginTimeoutTool(actionStep *definition.Step) *fermata.WorkflowStep {
	row := x.currentRow(actionStep.ID)
	if row == nil || row.State.IsEnded() && row.State != fermata.StepFailed {
		return x.begin(actionStep, x.st.visit(actionStep.ID), nil)
	}
	if row.State == fermata.StepFailed {
		row.Attempt++
	}
	return x.begin(actionStep, row.Occurrence, nil)
}

// callTimeoutTool calls the tool of an on_timeout action and stores its output.
func (x *execution) callTimeoutTool(ctx context.Context, actionStep *definition.Step, row *fermata.WorkflowStep, input map[string]any) error {
	named, err := x.namedTool(ctx, actionStep.Tool)
	if err != nil {
		return err
	}
	output, note, err := x.call(ctx, actionStep, row, named, input)
	if err != nil {
		return err
	}
	if note != "" {
		addNote(row, x.hideInText(note))
	}
	return x.storeOutput(actionStep, row, output)
}

// failTimeoutTool continues the run after the tool of an on_timeout action failed. It defers another attempt, or fails
// the run.
func (x *execution) failTimeoutTool(ctx context.Context, step, actionStep *definition.Step, row *fermata.WorkflowStep, cause error) error {
	row.Error = x.toSafeStepError(cause)
	if retry := retryOf(actionStep, row.Error); row.Attempt < retry.Attempts && !isPermanent(cause) {
		return x.deferAttempt(ctx, row, x.retryDelay(retry, row.Attempt, cause))
	}
	if err := x.finish(ctx, row, fermata.StepFailed); err != nil {
		return err
	}
	return x.endUnsuccessfully(ctx, fermata.TaskFailed, fermata.ReasonStepFailed, fmt.Sprintf("on_timeout of the step %s failed: %s", step.ID, row.Error.Message))
}

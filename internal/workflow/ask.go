package workflow

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/posting"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// questionState returns the data that identifies the run, the step and the occurrence that ask a question. It is stored
// as the state of the question, so that its answer cannot be taken for the answer of another step.
func (x *execution) questionState(row *fermata.WorkflowStep) json.RawMessage {
	return encodeJSON(map[string]any{"run": row.TaskID, "step": row.Step, "occurrence": row.Occurrence})
}

// ask asks people the question of a step. It suspends the run if the step says
// so.
func (x *execution) ask(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, input map[string]any) error {
	a, err := posting.Read(input, step.Tool == toolApproval)
	if err != nil {
		return x.handleInputError(ctx, step, row, err)
	}
	q, _, err := x.openQuestion(ctx, step, a)
	if err == nil && q == nil {
		var partialAsk fermata.Ask
		var skipped bool
		if partialAsk, skipped, err = x.unaskedQuestion(ctx, step, row); skipped {
			a = partialAsk
		}
	}
	if err != nil {
		return err
	}
	return x.post(ctx, step, row, a)
}

// handleInputError fails a step whose input cannot be used. It does not fail a
// question that a confidence threshold answers or sets aside.
func (x *execution) handleInputError(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, cause error) error {
	a, skipped, err := x.unaskedQuestion(ctx, step, row)
	switch {
	case err != nil:
		return err
	case skipped:
		return x.post(ctx, step, row, a)
	default:
		return x.handleFailure(ctx, step, row, permanentError(codeInput, cause))
	}
}

// post posts the question of a step. If the step suspends, the run stops until
// the answer.
func (x *execution) post(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, a fermata.Ask) error {
	if x.containsSecret(a) {
		return x.handleFailure(ctx, step, row, errExposesSecret("the question"))
	}
	a.State = x.questionState(row)
	x.nameIssue(&a)
	if step.Suspend {
		x.st.WaitsFor = waitForPerson
		row.State = fermata.StepWaiting
		return x.suspend(ctx, step, row, a)
	}
	return x.askNonBlocking(ctx, step, row, a)
}

// askNonBlocking asks a question without stopping the run. The default is the answer
// until a person gives another one.
func (x *execution) askNonBlocking(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, a fermata.Ask) error {
	a.Type = fermata.NonBlocking
	a.IdempotencyKey = row.Key()
	var asked *fermata.Question
	err := x.commit(ctx, func(h *engine.LeasedRun) error {
		q, err := h.AskNonBlocking(a, x.asker())
		if err != nil {
			return err
		}
		asked, row.QuestionID = q, q.ID
		return nil
	})
	if refusal := asRefusal(err); refusal != nil {
		row.QuestionID = ""
		return x.handleFailure(ctx, step, row, refusal)
	}
	if err != nil {
		return err
	}
	defaults, _ := asked.Defaults()
	row.Output = encodeJSON(answerFields(asked, defaults, asked.CreatedAt, ""))
	if err := x.finish(ctx, row, fermata.StepDone); err != nil {
		return err
	}
	x.leaveStep(step)
	return nil
}

// suspend asks the question of a step and stops the run until the question closes. If the run has other positions, it
// continues at those. If the rules refuse the question, the step fails, and no person sees the question.
func (x *execution) suspend(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, a fermata.Ask) error {
	x.touch(row)
	before, st := *row, *x.st
	isSetAside := false
	err := x.commit(ctx, func(h *engine.LeasedRun) error {
		*row, *x.st = before, st
		var err error
		if isSetAside, err = x.setAside(h, step, row, a); isSetAside || err != nil {
			return err
		}
		if !x.isAlone() {
			q, err := x.askInChildTask(h, step.ID, a, x.thresholds(step))
			if err != nil {
				return err
			}
			row.QuestionID, x.st.TaskIDs = q.ID, []string{q.TaskID}
			hasWorked, err := isTaskOfWork(h.Tx, row.ChildID)
			if !hasWorked {
				row.ChildID = q.TaskID
			}
			return err
		}
		q, err := h.Suspend(a, x.thresholds(step), x.asker())
		if err != nil {
			return err
		}
		row.QuestionID = q.ID
		if h.Task.State == fermata.TaskSkipped {
			row.Note = x.setAsideNote(h.Tx.Reader, step, row)
			row.End(fermata.StepSkipped, h.Tx.Now())
		}
		return nil
	})
	refusal := asRefusal(err)
	switch {
	case isSetAside && err == nil:
		return nil // the run continues with its other steps
	case err == nil && x.isAlone():
		return errStopped
	case err == nil:
		x.parked[step.ID] = nil
		return errParked
	case refusal == nil:
		return err
	}
	*row, *x.st = before, st
	x.st.WaitsFor = ""
	if a.Type == fermata.ErrorRecovery {
		return x.endUnsuccessfully(ctx, fermata.TaskFailed, fermata.ReasonStepFailed, "Nobody could be asked what to do: "+refusal.Error())
	}
	return x.handleFailure(ctx, step, row, refusal)
}

// isTaskOfWork reports whether a task did the work of a step. The other tasks of steps hold the question of a branch.
func isTaskOfWork(tx *store.Tx, id string) (bool, error) {
	if id == "" {
		return false, nil
	}
	t, err := tx.Task(id)
	return err == nil && !t.EndsWithAnswer, err
}

// setAsideNote returns the note on a step that was set aside, with the confidence and the threshold.
func (x *execution) setAsideNote(r store.Reader, step *definition.Step, row *fermata.WorkflowStep) string {
	given := decodeObject(row.Input)["confidence"]
	policy, err := r.Policy()
	threshold := x.thresholds(step).ApplyTo(policy).AskConfidence
	if err != nil || given == nil || threshold == nil {
		return "the confidence is below the threshold: set aside for manual work"
	}
	return fmt.Sprintf("the confidence %v is below the threshold %d (both count from 0 to 100): set aside for manual work", given, *threshold)
}

// setAside sets a step aside without asking its question, if the confidence is below the threshold. It does so only if
// the run has other steps to do before it ends. It reports whether it set the step aside.
func (x *execution) setAside(h *engine.LeasedRun, step *definition.Step, row *fermata.WorkflowStep, a fermata.Ask) (bool, error) {
	if a.Confidence == nil {
		return false, nil
	}
	note := x.setAsideNote(h.Tx.Reader, step, row)
	o := x.failureOutcome(fermata.TaskSkipped, fermata.ReasonLowConfidence, fmt.Sprintf("The step %s: %s.", step.ID, note))
	if o.Step == step.ID {
		o.Message = note
	}
	isClosing := x.st.Phase == definition.OnFailure || x.st.Phase == definition.Finally
	forks, next := x.def.Forks(step.Phase), x.firstStepAfter(o)
	if !isClosing && !forks && next == nil {
		return false, nil
	}
	q, err := h.SetAside(a, x.thresholds(step), x.asker())
	if q == nil || err != nil {
		return false, err
	}
	row.QuestionID, row.Note = q.ID, note
	row.End(fermata.StepSkipped, h.Tx.Now())
	switch {
	case isClosing:
		x.leaveStep(step)
	case forks:
		return true, x.cancelPositions(h, x.failBranch(o), "the step "+o.Step+" was set aside")
	default:
		x.startPhase(next, o)
	}
	return true, nil
}

// asRefusal returns the failure of a step whose question the rules of asking
// refused. It returns nil for any other error.
func asRefusal(err error) error {
	switch fermata.CodeOf(err) {
	case fermata.CodeInvalidRequest, fermata.CodeQuorumUnreachable, fermata.CodePolicyViolation, fermata.CodeRateLimited:
		return permanentError(codeRefused, err)
	default:
		return nil
	}
}

// question returns the question of a step with its current status.
func (x *execution) question(ctx context.Context, row *fermata.WorkflowStep) (*fermata.Question, error) {
	return x.s.db.Reader(ctx, x.claim.Task.WorkspaceID).Question(row.QuestionID)
}

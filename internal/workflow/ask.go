package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

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
	row.Output = encodeJSON(map[string]any{"id": asked.ID, "answer": singleAnswer(defaults), "answers": defaults, "source": "default"})
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
			if row.ChildID == "" {
				row.ChildID = q.TaskID
			}
			return nil
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

// handleClosedQuestion continues the run after the question of a step has closed.
func (x *execution) handleClosedQuestion(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, q *fermata.Question) error {
	x.st.WaitsFor, x.st.Input = "", nil
	r := q.Resolution
	if err := engine.CheckRecorded(x.s.db.Reader(ctx, x.claim.Task.WorkspaceID), q); err != nil {
		if fermata.CodeOf(err) == fermata.CodePolicyViolation {
			err = x.handleFailure(ctx, step, row, permanentError(codeRefused, err))
		}
		return err
	}
	switch {
	case q.Status == fermata.Cancelled && r.DecideYourself && q.Type != fermata.Approval:
		return x.continueUnanswered(ctx, step, row, q)
	case q.Status == fermata.Cancelled:
		return x.handleFailure(ctx, step, row, permanentError(codeWithdrawn, fermata.Errorf(fermata.CodeQuestionClosed, "the question was withdrawn: %s", r.Comment)))
	case q.Status == fermata.TimedOut && r.Outcome == fermata.SkipTask:
		return x.handleQuestionTimeout(ctx, step, row)
	case q.Status == fermata.TimedOut && r.Outcome == fermata.FailTask:
		return x.handleFailure(ctx, step, row, permanentError(codeQuestionTimeout, fermata.Errorf(fermata.CodeQuestionClosed, "nobody answered in time")))
	}
	return x.recordAnswer(ctx, step, row, answerOf(q, r.Answers, r.AnsweredBy, r.At, r.Comment))
}

// continueUnanswered continues the run after a person resumed it without an answer. The
// question's default is the answer, or there is none if it has no default. An
// approval is never given in this way.
func (x *execution) continueUnanswered(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, q *fermata.Question) error {
	defaults, _ := q.Defaults()
	answer := answerOf(q, defaults, nil, q.Resolution.At, q.Resolution.Comment)
	answer["source"] = "default"
	if len(defaults) == 0 {
		answer["source"] = "none"
	}
	row.Note = decidedBy(q) + " let the run go on without an answer"
	return x.recordAnswer(ctx, step, row, answer)
}

// singleAnswer returns the only answer of a question. If there are more, it
// returns all of them by key.
func singleAnswer(answers map[string]any) any {
	if len(answers) == 1 {
		for _, v := range answers {
			return v
		}
	}
	if len(answers) == 0 {
		return nil
	}
	return answers
}

// answerOf returns an answer in the form that expressions see as
// pendingQuestion.
func answerOf(q *fermata.Question, answers map[string]any, by *fermata.Actor, at time.Time, comment string) map[string]any {
	source := map[fermata.ActorKind]string{fermata.ActorHuman: "human", fermata.ActorTimeout: "timeout", fermata.ActorPolicy: "auto"}[q.Resolution.DecidedBy]
	out := map[string]any{
		"id": q.ID, "answer": singleAnswer(answers), "answers": answers, "comment": comment, "by": nil, "at": at.Format(time.RFC3339), "source": source,
	}
	if by != nil {
		out["by"] = by.Name
	}
	if option, ok := out["answer"].(string); ok {
		out["option"] = option
	}
	if q.Type == fermata.Approval {
		out["decision"] = out["answer"]
		if q.Approvals != nil && q.Approvals.Required > 1 {
			out["votes"] = votesOf(q)
			if q.Resolution.DecidedBy == fermata.ActorHuman {
				out["by"] = votersFor(q, out["decision"])
			}
		}
		if action := q.Resolution.Action; len(action) > 0 {
			out["action"] = decodeJSON(action)
		} else if len(q.Action) > 0 {
			out["action"] = decodeJSON(q.Action)
		}
	}
	return out
}

// votesOf returns the votes on an approval in the order in which they came.
func votesOf(q *fermata.Question) []any {
	votes := make([]any, 0, len(q.Votes))
	for i := range q.Votes {
		v := &q.Votes[i]
		votes = append(votes, map[string]any{"by": v.By.Name, "decision": v.Value, "comment": v.Comment, "at": v.At.Format(time.RFC3339)})
	}
	return votes
}

// votersFor returns the names of all people who voted for the decision.
func votersFor(q *fermata.Question, decision any) string {
	var names []string
	for i := range q.Votes {
		if q.Votes[i].Value == decision {
			names = append(names, q.Votes[i].By.Name)
		}
	}
	return strings.Join(names, ", ")
}

// recordAnswer records an answer and continues the run. The step is done or
// rejected, its inject values are set, and the run goes to the step that the
// definition names.
func (x *execution) recordAnswer(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, answer map[string]any) error {
	row.Output = x.storedJSON(answer)
	if answer["source"] == "auto" {
		row.Note = "decided by the threshold of confidence, not by a person"
	}
	rejected := answer["decision"] == fermata.Reject
	endState := fermata.StepDone
	if rejected {
		endState = fermata.StepRejected
	}
	if err := x.finish(ctx, row, endState); err != nil {
		return err
	}
	resume := x.def.Resume(step)
	if resume != nil {
		if err := x.inject(row, resume, answer); err != nil {
			return x.handleFailure(ctx, step, row, permanentError(codeInput, err))
		}
	}
	if rejected {
		return x.handleRejection(ctx, step, answer)
	}
	target := ""
	if resume != nil {
		target = resume.Goto
		if by := resume.GotoBy[pickedOption(answer)]; by != "" {
			target = by
		}
	}
	if target == "" {
		x.leaveStep(step)
		return nil
	}
	x.jump(step, target)
	return nil
}

// pickedOption returns the key of an answer in goto_by, or "" if the answer has
// no key.
func pickedOption(answer map[string]any) string {
	if yes, ok := answer["answer"].(bool); ok {
		return map[bool]string{true: definition.Yes, false: definition.No}[yes]
	}
	option, _ := answer["option"].(string)
	return option
}

func (x *execution) inject(row *fermata.WorkflowStep, resume *definition.Resume, answer map[string]any) error {
	env := x.env(row)
	env["pendingQuestion"] = answer
	for _, named := range resume.Inject {
		v, err := named.Value.Render(env)
		if err != nil {
			return fmt.Errorf("inject %s: %w", named.Name, err)
		}
		x.st.inject(named.Name, decodeJSON(x.storedJSON(v)))
	}
	return nil
}

// handleRejection continues the run as the step's on_reject says.
func (x *execution) handleRejection(ctx context.Context, step *definition.Step, answer map[string]any) error {
	switch {
	case step.OnRejectGoto != "":
		x.jump(step, step.OnRejectGoto)
		return nil
	case step.OnReject == definition.OnRejectSkip:
		x.leaveStep(step)
		return nil
	}
	summary := fmt.Sprintf("%v rejected the step %s.", answer["by"], step.ID)
	if comment, _ := answer["comment"].(string); comment != "" {
		summary += " " + comment
	}
	return x.endUnsuccessfully(ctx, fermata.TaskFailed, fermata.ReasonRejected, summary)
}

// handleQuestionTimeout continues the run after the step's question timed out with the timeout outcome "skip".
func (x *execution) handleQuestionTimeout(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep) error {
	row.Note = "nobody answered in time"
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
	}
	if action.Tool != "" {
		x.st.TimedOutStep = step.ID
		if err := x.callTimeoutTool(ctx, step, action); err != nil {
			return err
		}
		x.st.leave()
	}
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

// callTimeoutTool calls the tool in the on_timeout action of a step whose question nobody answered.
func (x *execution) callTimeoutTool(ctx context.Context, step *definition.Step, action *definition.TimeoutAction) error {
	actionStep := &definition.Step{ID: timeoutStep(step), Tool: action.Tool, Input: action.Input, Line: step.Line}
	row := x.currentRow(actionStep.ID)
	if row == nil || row.State.IsEnded() && row.State != fermata.StepFailed {
		row = x.begin(actionStep, x.st.visit(actionStep.ID), nil)
	} else {
		if row.State == fermata.StepFailed {
			row.Attempt++
		}
		row = x.begin(actionStep, row.Occurrence, nil)
	}
	input, err := x.input(actionStep, row, x.env(row))
	if err == nil {
		x.noteInterruptedCall(row)
		err = x.commit(ctx, nil)
	}
	if err == nil {
		var named *fermata.NamedTool
		if named, err = x.namedTool(ctx, actionStep.Tool); err == nil {
			var output any
			var note string
			if output, note, err = x.call(ctx, actionStep, row, named, input); err == nil {
				err = x.storeOutput(actionStep, row, output)
			}
			row.Note = x.hideInText(note)
			x.noteInterruptedCall(row)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err == nil {
		return x.finish(ctx, row, fermata.StepDone)
	}
	row.Error = x.toSafeStepError(err)
	if retry := retryOf(actionStep, row.Error); row.Attempt < retry.Attempts && !isPermanent(err) {
		return x.deferAttempt(ctx, row, x.retryDelay(retry, row.Attempt, err))
	}
	if err := x.finish(ctx, row, fermata.StepFailed); err != nil {
		return err
	}
	return x.endUnsuccessfully(ctx, fermata.TaskFailed, fermata.ReasonStepFailed, "What is to be done after silence failed: "+row.Error.Message)
}

// takeLateAnswer restarts the run with an answer that came after the deadline,
// if a person asked for that.
func (x *execution) takeLateAnswer(ctx context.Context) error {
	if x.claim.Context == nil || x.st.WaitsFor != "" || !x.isAlone() {
		return nil
	}
	for _, closedQuestion := range slices.Backward(x.claim.Context.Questions) {
		if closedQuestion.Resolution == nil || !slices.ContainsFunc(closedQuestion.Resolution.LateAnswers, func(l fermata.LateAnswer) bool { return l.Restarted }) {
			continue
		}
		rowIndex := slices.IndexFunc(x.rows, func(r *fermata.WorkflowStep) bool { return r.QuestionID == closedQuestion.QuestionID && r.Item == nil })
		if rowIndex < 0 {
			continue
		}
		row := x.rows[rowIndex]
		step := x.def.Step(row.Step)
		if step == nil || row != x.currentRow(row.Step) || row.Occurrence <= x.st.Hidden[row.Step] {
			continue
		}
		q, err := x.question(ctx, row)
		if err == nil {
			err = engine.CheckRecorded(x.s.db.Reader(ctx, x.claim.Task.WorkspaceID), q)
		}
		if err != nil {
			return err
		}
		late := closedQuestion.Resolution.LateAnswers[len(closedQuestion.Resolution.LateAnswers)-1]
		answer := answerOf(q, maps.Clone(late.Answers), &late.By, late.At, late.Comment)
		answer["source"] = "human"
		x.restart(step)
		row.Error = nil
		return x.recordAnswer(ctx, step, row, answer)
	}
	return nil
}

// restart moves an ended run back to a step. Steps in parallel branches that
// failed also start again.
func (x *execution) restart(step *definition.Step) {
	var others []position
	if o := x.st.Outcome; o != nil && x.def.Forks(step.Phase) {
		others = slices.DeleteFunc(append(slices.Clone(o.Others), position{Next: o.Next, TimedOutStep: o.TimedOutStep, Redo: true}), func(p position) bool { return p.Next == step.ID })
	}
	x.st.leave()
	x.moveTo(step, x.def.Between(step, nil))
	x.st.Others = others
	x.st.goBack(step.Phase)
}

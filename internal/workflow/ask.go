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
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// place identifies the wait of a step. It goes into the question's state, so
// that the answer is never taken for the answer of another step.
func (x *execution) place(row *fermata.WorkflowStep) json.RawMessage {
	return data(map[string]any{"run": row.TaskID, "step": row.Step, "occurrence": row.Occurrence})
}

// ask asks people the question of a step. It suspends the run if the step says
// so.
func (x *execution) ask(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, input map[string]any) error {
	a, err := posting.Read(input, step.Tool == toolApproval)
	if err != nil {
		return x.unreadable(ctx, step, row, err)
	}
	q, _, err := x.openQuestion(ctx, step, a)
	if err == nil && q == nil {
		var lean fermata.Ask
		var skipped bool
		if lean, skipped, err = x.unaskedQuestion(ctx, step, row); skipped {
			a = lean
		}
	}
	if err != nil {
		return err
	}
	return x.post(ctx, step, row, a)
}

// unreadable fails a step whose input cannot be used. It does not fail a
// question that a confidence threshold answers or sets aside.
func (x *execution) unreadable(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, why error) error {
	a, skipped, err := x.unaskedQuestion(ctx, step, row)
	switch {
	case err != nil:
		return err
	case skipped:
		return x.post(ctx, step, row, a)
	default:
		return x.handleFailure(ctx, step, row, permanentError(codeInput, why))
	}
}

// post posts the question of a step. If the step suspends, the run stops until
// the answer.
func (x *execution) post(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, a fermata.Ask) error {
	if x.isIn(a) {
		return x.handleFailure(ctx, step, row, errShown("the question"))
	}
	a.State = x.place(row)
	x.nameIssue(&a)
	if step.Suspend {
		x.st.Waits = waitsPerson
		row.State = fermata.StepWaiting
		return x.suspend(ctx, step, row, a)
	}
	return x.note(ctx, step, row, a)
}

// note asks a question without stopping the run. The default is the answer
// until a person gives another one.
func (x *execution) note(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, a fermata.Ask) error {
	a.Type = fermata.NonBlocking
	a.IdempotencyKey = row.Key()
	var asked *fermata.Question
	err := x.commit(ctx, func(h *engine.LeasedRun) error {
		q, err := h.Note(a, x.asker())
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
	row.Output = data(map[string]any{"id": asked.ID, "answer": singleAnswer(defaults), "answers": defaults, "source": "default"})
	if err := x.finish(ctx, row, fermata.StepDone); err != nil {
		return err
	}
	x.moveOn(step)
	return nil
}

// suspend stops the run on a question. If the rules refuse the question, the
// step fails before any person is told of it.
func (x *execution) suspend(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, a fermata.Ask) error {
	x.touch(row)
	before, st := *row, *x.st
	aside := false
	err := x.commit(ctx, func(h *engine.LeasedRun) error {
		*row, *x.st = before, st
		var err error
		if aside, err = x.setAside(h, step, row, a); aside || err != nil {
			return err
		}
		if !x.isAlone() {
			q, err := x.askBeside(h, step.ID, a, x.thresholds(step))
			if err != nil {
				return err
			}
			row.QuestionID, x.st.On = q.ID, []string{q.TaskID}
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
			row.Note = asideNote
			row.End(fermata.StepSkipped, h.Tx.Now())
		}
		return nil
	})
	refusal := asRefusal(err)
	switch {
	case aside && err == nil:
		return nil // the recovery steps come next
	case err == nil && x.isAlone():
		return errStopped
	case err == nil:
		x.parked[step.ID] = nil
		return errParked
	case refusal == nil:
		return err
	}
	*row, *x.st = before, st
	x.st.Waits = ""
	if a.Type == fermata.ErrorRecovery {
		return x.end(ctx, fermata.TaskFailed, fermata.ReasonStepFailed, "Nobody could be asked what to do: "+refusal.Error())
	}
	return x.handleFailure(ctx, step, row, refusal)
}

// asideNote is the note on a step that is left to people.
const asideNote = "the confidence is below the threshold: set aside for manual work"

// setAside leaves a step to people without asking its question. It applies only
// if the run has more steps to do before it ends. It reports whether it set the
// step aside.
func (x *execution) setAside(h *engine.LeasedRun, step *definition.Step, row *fermata.WorkflowStep, a fermata.Ask) (bool, error) {
	o := x.unsuccessful(fermata.TaskSkipped, fermata.ReasonLowConfidence, fmt.Sprintf("The step %s: %s.", step.ID, asideNote))
	if o.Step == step.ID {
		o.Message = asideNote
	}
	handles := x.st.Phase == definition.OnFailure || x.st.Phase == definition.Finally
	forks, next := x.def.Forks(step.Phase), x.following(o)
	if !handles && !forks && next == nil {
		return false, nil
	}
	q, err := h.SetAside(a, x.thresholds(step), x.asker())
	if q == nil || err != nil {
		return false, err
	}
	row.QuestionID, row.Note = q.ID, asideNote
	row.End(fermata.StepSkipped, h.Tx.Now())
	switch {
	case handles:
		x.moveOn(step)
	case forks:
		return true, x.cancelPlaces(h, x.failBranch(o), "the step "+o.Step+" was set aside")
	default:
		x.follow(next, o)
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

// question returns the question of a step with its present status.
func (x *execution) question(ctx context.Context, row *fermata.WorkflowStep) (*fermata.Question, error) {
	return x.s.db.In(ctx, x.claim.Task.WorkspaceID).Question(row.QuestionID)
}

// afterQuestion continues the run after the question of a step has closed.
func (x *execution) afterQuestion(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, q *fermata.Question) error {
	x.st.Waits, x.st.Input = "", nil
	r := q.Resolution
	if err := engine.CheckRecorded(x.s.db.In(ctx, x.claim.Task.WorkspaceID), q); err != nil {
		if fermata.CodeOf(err) == fermata.CodePolicyViolation {
			err = x.handleFailure(ctx, step, row, permanentError(codeRefused, err))
		}
		return err
	}
	switch {
	case q.Status == fermata.Cancelled && r.DecideYourself && q.Type != fermata.Approval:
		return x.decides(ctx, step, row, q)
	case q.Status == fermata.Cancelled:
		return x.handleFailure(ctx, step, row, permanentError(codeWithdrawn, fermata.Errorf(fermata.CodeQuestionClosed, "the question was withdrawn: %s", r.Comment)))
	case q.Status == fermata.TimedOut && r.Outcome == fermata.SkipTask:
		return x.handleSilence(ctx, step, row)
	case q.Status == fermata.TimedOut && r.Outcome == fermata.FailTask:
		return x.handleFailure(ctx, step, row, permanentError(codeSilence, fermata.Errorf(fermata.CodeQuestionClosed, "nobody answered in time")))
	}
	return x.answered(ctx, step, row, answerOf(q, r.Answers, r.AnsweredBy, r.At, r.Comment))
}

// decides continues the run after a person resumed it without an answer. The
// question's default is the answer, or there is none if it has no default. An
// approval is never given in this way.
func (x *execution) decides(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, q *fermata.Question) error {
	defaults, _ := q.Defaults()
	answer := answerOf(q, defaults, nil, q.Resolution.At, q.Resolution.Comment)
	answer["source"] = "default"
	if len(defaults) == 0 {
		answer["source"] = "none"
	}
	row.Note = decidedBy(q) + " let the run go on without an answer"
	return x.answered(ctx, step, row, answer)
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
			out["action"] = value(action)
		} else if len(q.Action) > 0 {
			out["action"] = value(q.Action)
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

// answered records an answer and continues the run. The step is done or
// rejected, its inject values are set, and the run goes to the step that the
// definition names.
func (x *execution) answered(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, answer map[string]any) error {
	row.Output = x.storedJSON(answer)
	if answer["source"] == "auto" {
		row.Note = "decided by the threshold of confidence, not by a person"
	}
	rejected := answer["decision"] == fermata.Reject
	end := fermata.StepDone
	if rejected {
		end = fermata.StepRejected
	}
	if err := x.finish(ctx, row, end); err != nil {
		return err
	}
	resume := x.def.Resume(step)
	if resume != nil {
		if err := x.inject(row, resume, answer); err != nil {
			return x.handleFailure(ctx, step, row, permanentError(codeInput, err))
		}
	}
	if rejected {
		return x.afterRejection(ctx, step, answer)
	}
	to := ""
	if resume != nil {
		to = resume.Goto
		if by := resume.GotoBy[pickedOption(answer)]; by != "" {
			to = by
		}
	}
	if to == "" {
		x.moveOn(step)
		return nil
	}
	x.jump(step, to)
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
		x.st.inject(named.Name, value(x.storedJSON(v)))
	}
	return nil
}

// afterRejection continues the run as the step's on_reject says.
func (x *execution) afterRejection(ctx context.Context, step *definition.Step, answer map[string]any) error {
	switch {
	case step.OnRejectGoto != "":
		x.jump(step, step.OnRejectGoto)
		return nil
	case step.OnReject == definition.OnRejectSkip:
		x.moveOn(step)
		return nil
	}
	summary := fmt.Sprintf("%v rejected the step %s.", answer["by"], step.ID)
	if comment, _ := answer["comment"].(string); comment != "" {
		summary += " " + comment
	}
	return x.end(ctx, fermata.TaskFailed, fermata.ReasonRejected, summary)
}

// handleSilence continues the run after a question timed out whose timeout
// outcome is to skip.
func (x *execution) handleSilence(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep) error {
	row.Note = "nobody answered in time"
	if err := x.finish(ctx, row, fermata.StepSkipped); err != nil {
		return err
	}
	return x.afterSilence(ctx, step)
}

// afterSilence does the on_timeout action of a step that nobody answered. If a
// process was lost after the action began, the action is not begun as a new
// occurrence.
func (x *execution) afterSilence(ctx context.Context, step *definition.Step) error {
	action := x.def.Timeout(step)
	switch {
	case action == nil && step.Approves():
		return x.endInSilence(ctx, step)
	case action == nil:
		x.moveOn(step)
		return nil
	}
	if action.Tool != "" {
		x.st.Silent = step.ID
		if err := x.doOnTimeout(ctx, step, action); err != nil {
			return err
		}
		x.st.leave()
	}
	if action.Goto != "" {
		x.jump(step, action.Goto)
		return nil
	}
	return x.endInSilence(ctx, step)
}

// endInSilence ends the run as skipped, because nobody answered the step's
// question.
func (x *execution) endInSilence(ctx context.Context, step *definition.Step) error {
	return x.end(ctx, fermata.TaskSkipped, fermata.ReasonQuestionTimedOut, fmt.Sprintf("Nobody answered the question of the step %s in time.", step.ID))
}

// timeoutStep returns the name of the step that does the on_timeout action. The
// graph uses the same name.
func timeoutStep(step *definition.Step) string { return step.ID + timeoutSuffix }

const timeoutSuffix = ".on_timeout"

// doOnTimeout calls the tool in the on_timeout action of a step that nobody
// answered.
func (x *execution) doOnTimeout(ctx context.Context, step *definition.Step, action *definition.Action) error {
	does := &definition.Step{ID: timeoutStep(step), Tool: action.Tool, Input: action.Input, Line: step.Line}
	row := x.current(does.ID)
	if row == nil || row.State.IsEnded() && row.State != fermata.StepFailed {
		row = x.begin(does, x.st.visit(does.ID), nil)
	} else {
		if row.State == fermata.StepFailed {
			row.Attempt++
		}
		row = x.begin(does, row.Occurrence, nil)
	}
	input, err := x.input(does, row, x.env(row))
	if err == nil {
		err = x.commit(ctx, nil)
	}
	if err == nil {
		var named *fermata.NamedTool
		if named, err = x.namedTool(ctx, does.Tool); err == nil {
			var output any
			var note string
			if output, note, err = x.call(ctx, does, row, named, input); err == nil {
				err = x.take(does, row, output)
			}
			row.Note = x.hideInText(note)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err == nil {
		return x.finish(ctx, row, fermata.StepDone)
	}
	row.Error = x.describe(err)
	if retry := retryOf(does, row.Error); row.Attempt < retry.Attempts && !isPermanent(err) {
		return x.deferAttempt(ctx, row, x.delay(retry, row.Attempt, err))
	}
	if err := x.finish(ctx, row, fermata.StepFailed); err != nil {
		return err
	}
	return x.end(ctx, fermata.TaskFailed, fermata.ReasonStepFailed, "What is to be done after silence failed: "+row.Error.Message)
}

// takeLateAnswer restarts the run with an answer that came after the deadline,
// if a person asked for that.
func (x *execution) takeLateAnswer(ctx context.Context) error {
	if x.claim.Context == nil || x.st.Waits != "" || !x.isAlone() {
		return nil
	}
	for _, told := range slices.Backward(x.claim.Context.Questions) {
		if told.Resolution == nil || !slices.ContainsFunc(told.Resolution.Late, func(l fermata.Late) bool { return l.Restarted }) {
			continue
		}
		at := slices.IndexFunc(x.rows, func(r *fermata.WorkflowStep) bool { return r.QuestionID == told.QuestionID && r.Item == nil })
		if at < 0 {
			continue
		}
		row := x.rows[at]
		step := x.def.Step(row.Step)
		if step == nil || row != x.current(row.Step) || row.Occurrence <= x.st.Hidden[row.Step] {
			continue
		}
		q, err := x.question(ctx, row)
		if err == nil {
			err = engine.CheckRecorded(x.s.db.In(ctx, x.claim.Task.WorkspaceID), q)
		}
		if err != nil {
			return err
		}
		late := told.Resolution.Late[len(told.Resolution.Late)-1]
		answer := answerOf(q, maps.Clone(late.Answers), &late.By, late.At, late.Comment)
		answer["source"] = "human"
		x.restart(step)
		row.Error = nil
		return x.answered(ctx, step, row, answer)
	}
	return nil
}

// restart moves an ended run back to a step. Steps in parallel branches that
// failed also start again.
func (x *execution) restart(step *definition.Step) {
	var beside []place
	if o := x.st.Outcome; o != nil && x.def.Forks(step.Phase) {
		beside = slices.DeleteFunc(append(slices.Clone(o.Others), place{Next: o.Next, Silent: o.Silent, Again: true}), func(p place) bool { return p.Next == step.ID })
	}
	x.st.leave()
	x.moveTo(step, x.def.Between(step, nil))
	x.st.Others = beside
	x.st.goBack(step.Phase)
}

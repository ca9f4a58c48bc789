package workflow

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// handleClosedQuestion continues the run after the question of a step has closed.
func (x *execution) handleClosedQuestion(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, q *fermata.Question) error {
	x.st.WaitsFor, x.st.Input = "", nil
	if err := engine.CheckRecorded(x.s.db.Reader(ctx, x.claim.Task.WorkspaceID), q); err != nil {
		if fermata.CodeOf(err) == fermata.CodePolicyViolation {
			err = x.handleFailure(ctx, step, row, permanentError(codeRefused, err))
		}
		return err
	}
	answer, isSkipped, err := closedAnswer(q)
	switch {
	case err != nil:
		return x.handleFailure(ctx, step, row, err)
	case isSkipped:
		return x.handleQuestionTimeout(ctx, step, row)
	}
	noteUnanswered(row, q)
	return x.recordAnswer(ctx, step, row, answer)
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
	pending := maps.Clone(answer)
	fillAnswer(pending)
	env["pendingQuestion"] = pending
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
		x.restartStep(step)
		row.Error = nil
		return x.recordAnswer(ctx, step, row, answer)
	}
	return nil
}

// restartStep moves an ended run back to a step. Steps in parallel branches that
// failed also start again.
func (x *execution) restartStep(step *definition.Step) {
	var others []position
	if o := x.st.Outcome; o != nil && x.def.Forks(step.Phase) {
		others = slices.DeleteFunc(append(slices.Clone(o.Others), position{Next: o.Next, TimedOutStep: o.TimedOutStep, Redo: true}), func(p position) bool { return p.Next == step.ID })
	}
	x.st.leave()
	x.moveTo(step, x.def.Between(step, nil))
	x.st.Others = others
	x.st.goBack(step.Phase)
}

package workflow

import (
	"context"
	"encoding/json"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// Another input for a step replaces the input of the definition, and the input
// that people approved. So only a member that may change the definition may
// give one. A question or an approval never takes another input: the definition
// says whom it asks, and for what.

// checkOtherInput returns an error if the caller may not change the workflow of
// the run.
func checkOtherInput(c fermata.Caller, run *fermata.WorkflowRun) error {
	return c.CheckPermission(fermata.ToDefineWorkflow, fermata.InProject(projectOrDefault(run.Project)))
}

// asksPeople reports whether the step is a question or an approval.
func asksPeople(step *definition.Step) bool {
	return step.Tool == toolQuestion || step.Tool == toolApproval
}

// errAsksPeople returns the refusal of another input for a question.
func errAsksPeople(step *definition.Step) error {
	return fermata.Errorf(fermata.CodeIllegalTransition, "the step %s asks people: nothing takes the place of its question", step.ID).
		WithHint("try it again as it is; or change the workflow, and start a new run")
}

// mayGiveInput reports whether the person that answered the question about an
// error may give another input.
func (x *execution) mayGiveInput(ctx context.Context, q *fermata.Question) (bool, error) {
	by := q.Resolution.AnsweredBy
	if by == nil || by.Kind != fermata.ActorHuman {
		return false, nil
	}
	m, err := x.s.db.Reader(ctx, x.claim.Task.WorkspaceID).Member(by.ID)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return false, nil
	}
	return err == nil && checkOtherInput(m.Caller(), x.run) == nil, err
}

// otherInputOf returns the input that the answer to the question about a failed step gives.
func otherInputOf(q *fermata.Question) json.RawMessage {
	text, _ := q.Resolution.Answers[fermata.RemedyInputKey].(string)
	return json.RawMessage(text)
}

package workflow

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// Another input for a step takes the place of what the definition says, and of what people
// approved before it. So only those may give one who may change the definition; and never
// for a question or an approval: whom it asks, and for what, stands in the definition.

// checkOtherInput refuses another input of somebody who may not change the workflow of the
// run.
func checkOtherInput(c fermata.Caller, run *fermata.WorkflowRun) error {
	return c.May(fermata.ToDefineWorkflow, fermata.InProject(orDefault(run.Project)))
}

// asksPeople reports whether the step is a question or an approval.
func asksPeople(step *definition.Step) bool {
	return step.Tool == toolQuestion || step.Tool == toolApproval
}

// errAsksPeople refuses another input of a question.
func errAsksPeople(step *definition.Step) error {
	return fermata.Errorf(fermata.CodeIllegalTransition, "the step %s asks people: nothing takes the place of its question", step.ID).
		WithHint("try it again as it is; or change the workflow, and start a new run")
}

// mayGiveInput reports whether the person who answered the question about an error may give
// another input.
func (x *execution) mayGiveInput(ctx context.Context, q *fermata.Question) (bool, error) {
	by := q.Resolution.AnsweredBy
	if by == nil || by.Kind != fermata.ActorHuman {
		return false, nil
	}
	m, err := x.s.db.In(ctx, x.claim.Task.WorkspaceID).Member(by.ID)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return false, nil
	}
	return err == nil && checkOtherInput(m.Caller(), x.run) == nil, err
}

package workflow

import (
	"context"
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/posting"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// unaskedQuestion returns the question of a step if a confidence threshold answers it or sets it aside. It uses the
// parts of the input that can be rendered, because an agent that is sure may leave out the parts that only a person
// needs. It reports false if a person must be asked.
func (x *execution) unaskedQuestion(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep) (fermata.Ask, bool, error) {
	if step.Tool != toolQuestion || !step.Suspend {
		return fermata.Ask{}, false, nil
	}
	input := map[string]any{}
	for name, v := range step.Input.RenderEach(x.env(row)) {
		if v != nil {
			input[name] = v
		}
	}
	if input["confidence"] == nil {
		return fermata.Ask{}, false, nil
	}
	if input["question"] == nil && input["title"] == nil && input["items"] == nil {
		input["question"] = fmt.Sprintf("The step %s of %s", step.ID, x.run.Workflow)
	}
	a, err := posting.Read(input, false)
	if err != nil {
		return fermata.Ask{}, false, nil //nolint:nilerr // the caller reports the error of the whole input
	}
	q, policy, err := x.openQuestion(ctx, step, a)
	if err != nil {
		return fermata.Ask{}, false, err
	}
	if q == nil || policy.DecideByConfidence(q) == fermata.AskPerson {
		return fermata.Ask{}, false, nil
	}
	row.Input = x.storedJSON(input)
	x.touch(row)
	return a, true, nil
}

// openQuestion returns a question as it would be asked under the policy of the step. It returns nil if the rules of
// asking refuse it.
func (x *execution) openQuestion(ctx context.Context, step *definition.Step, a fermata.Ask) (*fermata.Question, fermata.Policy, error) {
	policy, err := x.s.db.Reader(ctx, x.claim.Task.WorkspaceID).Policy()
	if err != nil {
		return nil, policy, err
	}
	policy = x.thresholds(step).ApplyTo(policy)
	q, err := a.Open("", x.claim.Task, x.asker(), policy, x.now)
	if err != nil {
		return nil, policy, nil //nolint:nilerr // the error is reported when the question is asked
	}
	return q, policy, nil
}

// thresholds returns the confidence thresholds of the step, or else of the workflow. They replace the thresholds of the
// workspace.
func (x *execution) thresholds(step *definition.Step) fermata.Thresholds {
	limits := fermata.Thresholds{}
	for _, c := range []*definition.Confidence{x.def.Confidence, step.Confidence} {
		if c != nil {
			limits = fermata.Thresholds{Auto: c.Auto, Ask: c.Ask}
		}
	}
	return limits
}

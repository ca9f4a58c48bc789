package workflow

import (
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// branch is what expressions see of the branch that a step has for itself: its name once the step is done, a list of them for a
// step with items, and nil for everything else.
func (x *execution) branch(step *definition.Step, row *fermata.WorkflowStep) any {
	if !step.OwnCopy {
		return nil
	}
	if step.Foreach == nil {
		return x.branchOf(row)
	}
	list, _ := value(row.Input).([]any)
	branches := make([]any, len(list))
	for i, item := range x.items(row) {
		if i < len(branches) {
			branches[i] = x.branchOf(item)
		}
	}
	return branches
}

// branchOf is the branch of the task that a worker did for a row; nil while there is nothing on it. A test of a workflow has no
// tasks: there the branch is named by the step.
func (x *execution) branchOf(row *fermata.WorkflowStep) any {
	switch {
	case row.State != fermata.StepDone:
		return nil
	case row.ChildID != "":
		return "fermata/" + row.ChildID
	case x.s.Stub == nil:
		return nil
	case row.Item != nil:
		return fmt.Sprintf("fermata/%s-%d", row.Step, *row.Item+1)
	}
	return "fermata/" + row.Step
}

package workflow

import (
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// gitBranch returns the value that expressions see as the git branch of a step with its own working copy. It is the name
// of the branch once the step is done. For a step with items it is a list of names, and for every other step nil.
func (x *execution) gitBranch(step *definition.Step, row *fermata.WorkflowStep) any {
	if !step.OwnCopy {
		return nil
	}
	if step.Foreach == nil {
		return x.taskGitBranch(row)
	}
	list, _ := decodeJSON(row.Input).([]any)
	branches := make([]any, len(list))
	for i, item := range x.itemRows(row) {
		if i < len(branches) {
			branches[i] = x.taskGitBranch(item)
		}
	}
	return branches
}

// taskGitBranch returns the git branch of the task that a worker did for a row, or nil until the row is done. A simulation
// has no tasks, so its branches are named after the steps.
func (x *execution) taskGitBranch(row *fermata.WorkflowStep) any {
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

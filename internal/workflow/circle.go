package workflow

import (
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// mostFollowing limits how long a chain of runs may be in which each run was
// started by an event of the previous one.
const mostFollowing = 10

// circle returns the reason why a new run would follow a run of the same
// workflow through a chain of events. It returns nil if there is no such
// circle. id is the task that caused the event, name the workflow.
func circle(tx *store.Tx, id, name string) (why, err error) {
	for range mostFollowing {
		if id == "" {
			return nil, nil
		}
		first, own, err := ownRun(tx, id, name)
		switch {
		case err != nil:
			return nil, err
		case own != "":
			return fmt.Errorf("its own run %s led to this event, by way of other workflows", own), nil
		case first == nil || first.Trigger != fermata.TriggerEvent:
			return nil, nil
		}
		id, _ = object(first.Cause)["task_id"].(string)
	}
	return fmt.Errorf("%d runs have followed one another by events", mostFollowing), nil
}

// ownRun searches a task and its ancestors for workflow runs. It returns the
// run nearest to the root, and the id of a run of the workflow called name, or
// "".
func ownRun(tx *store.Tx, id, name string) (first *fermata.WorkflowRun, own string, err error) {
	for range fermata.MaxDepth {
		t, err := tx.Task(id)
		if err != nil {
			return nil, "", err
		}
		if t.Runner == fermata.RunnerWorkflow {
			if first, err = tx.WorkflowRun(t.ID); err != nil {
				return nil, "", err
			}
			if first.Workflow == name {
				return first, t.ID, nil
			}
		}
		if t.ParentID == "" {
			return first, "", nil
		}
		id = t.ParentID
	}
	return first, "", nil
}

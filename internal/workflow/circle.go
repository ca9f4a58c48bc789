package workflow

import (
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// mostFollowing bounds how many runs follow one another by events.
const mostFollowing = 10

// circle says why a run of the workflow would follow one of its own, by way of
// others: what led to the task began there. It returns nil where it does not.
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

// ownRun looks at a task and at all above it: it returns the run that they all
// belong to, and the id of one of the workflow, if there is any.
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

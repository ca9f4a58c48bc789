package workflow

import (
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// maxEventChain limits the length of a chain of runs in which an event of each run started the next one.
const maxEventChain = 10

// findEventCycle returns the reason why an event must not start a run: an earlier run of the same workflow led to the
// event, or the chain of runs is too long. It returns a nil reason if the run may start. id is the task that caused the
// event, and name is the workflow.
func findEventCycle(tx *store.Tx, id, name string) (reason, err error) {
	for range maxEventChain {
		if id == "" {
			return nil, nil
		}
		first, ownRunID, err := findAncestorRuns(tx.Reader, id, name)
		switch {
		case err != nil:
			return nil, err
		case ownRunID != "":
			return fmt.Errorf("its own run %s led to this event, by way of other workflows", ownRunID), nil
		case first == nil || first.Trigger != fermata.TriggerEvent:
			return nil, nil
		}
		id, _ = decodeObject(first.Cause)["task_id"].(string)
	}
	return fmt.Errorf("%d runs have followed one another by events", maxEventChain), nil
}

// findAncestorRuns searches a task and its ancestors for workflow runs. It returns the
// run nearest to the root, and the id of a run of the workflow called name, or
// "".
func findAncestorRuns(r store.Reader, id, name string) (first *fermata.WorkflowRun, ownRunID string, err error) {
	for range fermata.MaxDepth {
		t, err := r.Task(id)
		if err != nil {
			return nil, "", err
		}
		if t.Runner == fermata.RunnerWorkflow {
			if first, err = r.WorkflowRun(t.ID); err != nil {
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

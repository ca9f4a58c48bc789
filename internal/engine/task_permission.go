package engine

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// taskGetter is the part of a reader, or of a transaction with read-ahead, that finds tasks.
type taskGetter interface {
	Task(id string) (*fermata.Task, error)
}

// checkTaskPermission returns an error if the caller may not do v with a task. An agent
// also has the rights of an owner on subtasks of its own tasks.
func checkTaskPermission(r taskGetter, c fermata.Caller, v fermata.Verb, t *fermata.Task) error {
	if err := checkCallerPermission(r, c, v, t); err != nil {
		return err
	}
	return checkNotRunOnly(r, v, t)
}

// checkCallerPermission is checkTaskPermission without the check for actions that only workflow runs may do.
func checkCallerPermission(r taskGetter, c fermata.Caller, v fermata.Verb, t *fermata.Task) error {
	if c.Kind != fermata.ActorAgent || c.Owns(t) {
		return c.CheckPermission(v, fermata.InTask(t))
	}
	var ancestors []*fermata.Task
	for id := t.ParentID; id != "" && len(ancestors) < fermata.MaxDepth; {
		parent, err := r.Task(id)
		if err != nil {
			return err
		}
		ancestors, id = append(ancestors, parent), parent.ParentID
	}
	return c.CheckPermission(v, fermata.InTask(t, ancestors...))
}

// checkNotRunOnly refuses actions that only a workflow run may do with its own task and with the tasks of its side
// questions. Otherwise a caller could make the run continue without the answer, or replace the question of its next
// step.
func checkNotRunOnly(r taskGetter, v fermata.Verb, t *fermata.Task) error {
	if t.Runner == fermata.RunnerWorkflow {
		if v == fermata.ToAsk || v == fermata.ToGate {
			return fermata.Errorf(fermata.CodeIllegalTransition, "only the steps of a workflow run can ask on its task").
				WithHint("ask on a task of your own, below the run or outside of it")
		}
		return nil
	}
	if !slices.Contains(runOnlyVerbs, v) {
		return nil
	}
	if v == fermata.ToReopenTask {
		if err := checkNotStep(r, t, "does not begin again by itself"); err != nil {
			return err
		}
	}
	run, err := parentAskingRun(r, t)
	if err != nil || run == nil {
		return err
	}
	return fermata.Errorf(fermata.CodeIllegalTransition, "the run %s asks on this task, which ends with the answer", run.ID).
		WithHint("answer the question, or withdraw it: then the step of the run fails")
}

// runOnlyVerbs are the actions that only a workflow run may do with the task of its question.
var runOnlyVerbs = []fermata.Verb{fermata.ToAsk, fermata.ToGate, fermata.ToFinishTask, fermata.ToChangeTask, fermata.ToPauseTask, fermata.ToReopenTask}

// parentAskingRun returns the workflow run that created the task t only to ask a question on it. It returns nil for any
// other task.
func parentAskingRun(r taskGetter, t *fermata.Task) (*fermata.Task, error) {
	if !t.EndsWithAnswer || t.ParentID == "" {
		return nil, nil
	}
	parent, err := r.Task(t.ParentID)
	if err != nil || parent.Runner != fermata.RunnerWorkflow {
		return nil, err
	}
	return parent, nil
}

// askingRun returns the workflow run that asks on a task: the task itself, or the run above it. It returns nil if no
// run asks.
func askingRun(r taskGetter, t *fermata.Task) (*fermata.Task, error) {
	if t.Runner == fermata.RunnerWorkflow {
		return t, nil
	}
	return parentAskingRun(r, t)
}

// checkNotStep refuses to change or reopen a task that a workflow run created for one of its steps. People approved the
// text of the step, and the run would not learn that the work was done again.
func checkNotStep(r taskGetter, t *fermata.Task, why string) error {
	var spec struct {
		Key string `json:"key"`
	}
	if t.ParentID == "" || len(t.Spec) == 0 {
		return nil
	}
	_ = json.Unmarshal(t.Spec, &spec) // only a run writes the key
	if !strings.HasPrefix(spec.Key, t.ParentID+"/") {
		return nil
	}
	run, err := r.Task(t.ParentID)
	if err != nil || run.Runner != fermata.RunnerWorkflow {
		return err
	}
	return fermata.Errorf(fermata.CodeIllegalTransition, "the task is a step of the run %s, and %s", run.ID, why).
		WithHint("try the run again from where it failed: fermata workflow retry %s", run.ID)
}

// checkConcurrencyKeyFree refuses to reopen an ended workflow run while another open run has the same concurrency key.
func checkConcurrencyKeyFree(tx *store.Tx, t *fermata.Task) error {
	if t.Runner != fermata.RunnerWorkflow || !t.State.IsEnded() {
		return nil
	}
	run, err := tx.WorkflowRun(t.ID)
	if err != nil {
		return err
	}
	open, err := tx.OpenRunsByConcurrencyKey(run.ConcurrencyKey)
	if err != nil || len(open) == 0 {
		return err
	}
	return fermata.Errorf(fermata.CodeIllegalTransition, "another open run, %s, has the same concurrency key", open[0]).
		WithHint("cancel that run, or let it end")
}

// checkNotQueued refuses to start a queued workflow run while another run with the same concurrency key is open.
func checkNotQueued(tx *store.Tx, t *fermata.Task) error {
	if t.Runner != fermata.RunnerWorkflow {
		return nil
	}
	others, err := tx.TasksByID(t.BlockedBy)
	if err != nil {
		return err
	}
	for _, other := range others {
		if other.ParentID != t.ID && !t.IsUnblockedBy(other) {
			return fermata.Errorf(fermata.CodeIllegalTransition, "the run waits until the run %s ends, because both have the same concurrency key", other.ID).
				WithHint("cancel that run, or let it end")
		}
	}
	return nil
}

// endWaits ends the waits for an instant in the steps of a workflow run. The steps themselves do not end.
func endWaits(tx *store.Tx, t *fermata.Task) {
	if t.Runner == fermata.RunnerWorkflow {
		tx.EndWaits(t.ID)
	}
}

// checkParentPermission refuses a subtask of another agent's task, because that task would wait for the subtask.
func checkParentPermission(tx *store.Tx, c fermata.Caller, id string) error {
	if id == "" {
		return nil
	}
	parent, err := tx.Task(id)
	if err != nil {
		return err
	}
	return checkTaskPermission(tx, c, fermata.ToCreateTask, parent)
}

// checkFilePermission checks a new task that uses the working copy of another task or begins at its branch. It refuses if that
// task is in another project, or if the caller may not add a subtask to it. A run of the new task reads the files of
// the other one, and can change those of its working copy.
func checkFilePermission(tx *store.Tx, c fermata.Caller, n fermata.NewTask) error {
	if err := checkFilesOf(tx, c, n, "working_copy", n.WorkingCopyID()); err != nil {
		return err
	}
	return checkFilesOf(tx, c, n, "from", n.BaseTaskID())
}

// checkFilesOf is checkFilePermission for the task that one key of the spec names; "" means none.
func checkFilesOf(tx *store.Tx, c fermata.Caller, n fermata.NewTask, key, id string) error {
	if id == "" {
		return nil
	}
	owner, err := tx.Task(id)
	if err != nil {
		return err
	}
	if err := checkTaskPermission(tx, c, fermata.ToCreateTask, owner); err != nil {
		return err
	}
	if owner.Project != cmp.Or(n.Project, fermata.DefaultProject) {
		return fermata.Invalid(fermata.Problem{
			Field: "spec." + key, Message: "must be that of a task in the same project; " + id + " is in " + owner.Project,
		})
	}
	return nil
}

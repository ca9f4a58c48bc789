package workflow

import (
	"context"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// unit is one piece of work of a step: the step itself, or one of its items.
type unit struct {
	row   *fermata.WorkflowStep
	input map[string]any
	// feedback tells an agent why the previous attempt failed. It is "" on the first attempt.
	feedback string
}

// delegation describes how a step delegates its work to a task.
type delegation struct {
	// check returns a [stepError] if no task can be created with the input of the unit. It creates nothing.
	check func(x *execution, r store.Reader, step *definition.Step, u unit) error
	// create creates the task, in the transaction that stops the run. It refuses what check refuses.
	create func(x *execution, h *engine.LeasedRun, step *definition.Step, u unit) (*fermata.Task, error)
}

// describeTask returns the task that does the work of a unit, and its spec. newTask adds the fields that the tasks of
// all steps have, such as the project and the working copy.
type describeTask func(x *execution, step *definition.Step, u unit) (fermata.NewTask, spec, error)

// delegation returns how a step delegates its work to such a task.
func (describe describeTask) delegation() delegation {
	return delegation{
		check: func(x *execution, _ store.Reader, step *definition.Step, u unit) error {
			return x.checkTask(describe, step, u)
		},
		create: func(x *execution, h *engine.LeasedRun, step *definition.Step, u unit) (*fermata.Task, error) {
			n, err := x.newTask(describe, step, u)
			if err != nil {
				return nil, err
			}
			return h.CreateChild(n, x.asker())
		},
	}
}

// describeBuiltIn returns what describes the task of a built-in tool, or nil for a tool without such a task.
func describeBuiltIn(tool string) describeTask {
	switch tool {
	case toolAgent:
		return describeAgentTask
	case toolShell:
		return describeShellTask
	default:
		return nil
	}
}

// builtInDelegation returns how a built-in tool is delegated. It reports false for a tool that is not delegated.
func (s *Service) builtInDelegation(name string) (delegation, bool) {
	if s.Stub != nil {
		return delegation{}, false
	}
	if name == toolWorkflow {
		return delegation{check: s.checkDelegatedRun, create: s.createRun}, true
	}
	describe := describeBuiltIn(name)
	if describe == nil {
		return delegation{}, false
	}
	return describe.delegation(), true
}

// delegate creates a task for each unit. The step waits until one of these tasks ends, or one of the tasks in open,
// which exist already. A unit for which no task can be created fails alone.
func (x *execution) delegate(ctx context.Context, step *definition.Step, row *fermata.WorkflowStep, d delegation, units []unit, open []string) error {
	for i := range units {
		var err error
		if units[i].feedback, err = x.feedback(ctx, step, units[i].row); err != nil {
			return err
		}
	}
	x.st.WaitsFor = waitForChildren
	row.State = fermata.StepWaiting
	x.touch(row)
	var last unit
	err := x.park(ctx, nil, func(h *engine.LeasedRun) ([]string, error) {
		ids := slices.Clone(open)
		for _, u := range units {
			last = u
			t, err := d.create(x, h, step, u)
			if err != nil {
				return nil, err
			}
			u.row.State, u.row.ChildID = fermata.StepWaiting, t.ID
			x.touch(u.row)
			ids = append(ids, t.ID)
		}
		return ids, nil
	})
	refusal := asDelegationRefusal(err)
	if refusal == nil {
		return err
	}
	// Nothing of the transaction stays. If the step has items, only the refused one fails.
	x.st.WaitsFor = ""
	for _, u := range units {
		u.row.State, u.row.ChildID, u.row.QuestionID = fermata.StepRunning, "", ""
	}
	if last.row.Item == nil {
		return x.handleFailure(ctx, step, row, refusal)
	}
	if err := x.saveItemEnd(ctx, last.row, refusal); err != nil {
		return err
	}
	return x.doEach(ctx, step, row, open)
}

// asDelegationRefusal returns the failure of a step whose task could not be created. It returns nil for any other error.
func asDelegationRefusal(err error) error {
	if f, ok := err.(*stepError); ok { //nolint:errorlint // nothing wraps the error that create returns
		return f
	}
	if fermata.CodeOf(err) == fermata.CodeInvalidRequest {
		return permanentError(codeInput, err)
	}
	return nil
}

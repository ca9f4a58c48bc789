package workflow_test

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/workflow"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// A member that may write workflows in one project cannot act in another one. Neither a step that starts workflows of
// that project nor the tools of all projects allow it.
func TestAProjectIsActedInByItsOwn(t *testing.T) {
	onBoth(t, func(w *world) {
		w.put("name: deploy\nproject: shop\ntriggers: [{manual: true}]\nsteps: [{id: tell, tool: note}]\n")
		run := w.awaitEnd(w.run("name: outer\ntriggers: [{manual: true}]\nsteps: [{id: sub, tool: workflow, input: {name: deploy}}]\n", nil).ID)
		if e := run.Steps[0].Error; run.State != fermata.TaskFailed || e == nil || !strings.Contains(e.Message, "there is no workflow deploy in the project default") || e.Hint == "" {
			w.Errorf("a run of another project: %s, %+v", run.State, e)
		}
		w.runsOf("deploy", 0)
		run = w.awaitEnd(w.run("name: inner\nproject: shop\ntriggers: [{manual: true}]\nsteps: [{id: sub, tool: workflow, input: {name: deploy}}]\n", nil).ID)
		if run.State != fermata.TaskDone {
			w.Errorf("a run of the same project: %s", w.describe(run))
		}

		local := ann
		local.Scopes = []fermata.Scope{fermata.ScopeWork, fermata.ScopeRead}
		local.Projects = map[string]fermata.Role{fermata.DefaultProject: fermata.RoleOperator}
		tool := &fermata.NamedTool{Name: "run_checks", Command: []string{"make", "test"}}
		_, err := w.s.PutNamedTool(w.Context(), admin, tool)
		w.OK(err)
		for what, err := range map[string]error{
			"defines a tool":  errOf(w.s.PutNamedTool(w.Context(), local, tool)),
			"defines several": errOf(w.s.PutNamedTools(w.Context(), local, []*fermata.NamedTool{tool})),
			"removes one":     w.s.DeleteNamedTool(w.Context(), local, "run_checks"),
		} {
			if fermata.CodeOf(err) != fermata.CodeForbidden || !strings.Contains(err.Error(), "whole workspace") {
				w.Errorf("%s: %v", what, err)
			}
		}
		w.OK(errOf(w.s.Put(w.Context(), local, "", workflow.Definition{Source: "name: own\ntriggers: [{manual: true}]\nsteps: [{id: tell, tool: note}]\n"})))
	})
}

// A workflow follows only events of its own project, because every reader of the project can read what started its
// runs.
func TestAWorkflowHearsOfItsOwnProject(t *testing.T) {
	onBoth(t, func(w *world) {
		for _, project := range []string{"web", "payroll", fermata.DefaultProject} {
			w.put("name: hears-" + project + "\nproject: " + project + "\ntriggers: [{event: task.created}, {event: member.added}]\nsteps: [{id: tell, tool: note}]\n")
		}
		_, err := w.Engine.CreateTask(w.Context(), admin, fermata.NewTask{Title: "Pay jane", Project: "payroll", Runner: fermata.RunnerExternal})
		w.OK(err)
		w.AddMember(newMember("ada"))
		w.OK(workflow.StartAllTriggered(w.Context(), w.s, store.DefaultWorkspace))
		w.runsOf("hears-payroll", 1)
		w.runsOf("hears-web", 0)
		w.runsOf("hears-"+fermata.DefaultProject, 1)
	})
}

// A run that starts its own workflow again through another workflow fails, instead of starting it without end.
func TestAWorkflowStartsNoneOfItselfBelow(t *testing.T) {
	onBoth(t, func(w *world) {
		w.put("name: pong\ntriggers: [{manual: true}]\nsteps: [{id: sub, tool: workflow, input: {name: ping}}]\n")
		run := w.awaitEnd(w.run("name: ping\ntriggers: [{manual: true}]\nsteps: [{id: sub, tool: workflow, input: {name: pong}}]\n", nil).ID)
		if run.State != fermata.TaskFailed {
			w.Errorf("it is %s", w.describe(run))
		}
		w.runsOf("ping", 1)
		below := w.read(w.runsOf("pong", 1)[0].ID)
		if e := below.Steps[0].Error; e == nil || !strings.Contains(e.Message, run.ID) {
			w.Errorf("the step below says %+v", e)
		}
	})
}

// If the current rules refuse the definition of a run, the run ends with that reason. A retry is refused, because it
// would not help.
func TestAPinnedDefinitionThatIsRefused(t *testing.T) {
	onBoth(t, func(w *world) {
		source := "name: old\ntriggers: [{manual: true}]\nsteps: [{id: one, tool: shell, input: {run: \"echo {{ inputs.title }}\"}}]\n"
		var id string
		w.OK(w.DB.Write(w.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
			task, err := w.Engine.CreateTaskInTx(tx, fermata.NewTask{Title: "old", Runner: fermata.RunnerWorkflow}, fermata.SystemActor)
			if err != nil {
				return err
			}
			id = task.ID
			hash := definition.Hash([]byte(source))
			tx.SaveDefinition("old", hash, source, fermata.SystemActor)
			tx.InsertWorkflowRun(&fermata.WorkflowRun{ID: id, Workflow: "old", Hash: hash, Trigger: fermata.TriggerManual, Cause: []byte("{}"), Inputs: []byte("{}")})
			return nil
		}))
		run := w.awaitEnd(id)
		if run.State != fermata.TaskFailed || run.Reason != fermata.ReasonDefinitionGone || run.CanRetry {
			w.Errorf("it is %s, %s, can be tried again: %v", run.State, run.Reason, run.CanRetry)
		}
		for _, part := range []string{"source:3:", "does not repair that", "start a new run"} {
			if !strings.Contains(run.Summary, part) {
				w.Errorf("the summary does not say %q: %s", part, run.Summary)
			}
		}
		_, err := w.s.Retry(w.Context(), admin, id, nil)
		if fermata.CodeOf(err) != fermata.CodeIllegalTransition || !strings.Contains(err.Error(), "pinned") {
			w.Errorf("it is tried again: %v", err)
		}
	})
}

// TestADefinitionOfAnotherProject uses a name that was taken in a project that the reader cannot see.
func TestADefinitionOfAnotherProject(t *testing.T) {
	onBoth(t, func(w *world) {
		hidden := w.put("name: pay\nproject: payroll\ntriggers: [{manual: true}]\nsteps: [{id: tell, tool: note}]\n")
		w.OK(w.s.Delete(w.Context(), admin, "pay"))
		own := w.put("name: pay\nproject: web\ntriggers: [{manual: true}]\nsteps: [{id: tell, tool: note}]\n")
		eve := ann
		eve.Role, eve.Projects = fermata.RoleNone, map[string]fermata.Role{"web": fermata.RoleOperator}
		if _, err := w.s.Workflow(w.Context(), eve, "pay", hidden.Hash); fermata.CodeOf(err) != fermata.CodeNotFound {
			w.Errorf("the other definition: %v", err)
		}
		for _, hash := range []string{"", own.Hash} {
			_, err := w.s.Workflow(w.Context(), eve, "pay", hash)
			w.OK(err)
		}
		_, err := w.s.Workflow(w.Context(), admin, "pay", hidden.Hash)
		w.OK(err)
	})
}

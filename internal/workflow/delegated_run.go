package workflow

import (
	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// findWorkflow returns the workflow that an input of the tool workflow names, its definition and the inputs of the
// run. It returns a [stepError] if no run can start.
func (s *Service) findWorkflow(r store.Reader, project string, input map[string]any) (*fermata.Workflow, *definition.Workflow, map[string]any, error) {
	name, _ := input["name"].(string)
	w, err := r.Workflow(name)
	if err == nil && w.Project != projectOrDefault(project) {
		// The author of this workflow may have no permission in the other project, and must not learn which workflows
		// it has.
		err = fermata.NotFound("workflow", name)
	}
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		err = fermata.Errorf(fermata.CodeNotFound, "there is no workflow %s in the project %s", name, projectOrDefault(project)).
			WithHint("a step starts workflows of its own project; one of another project is started by its webhook")
		return nil, nil, nil, permanentError(codeInput, err)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	d, err := s.loadPinned(r, name, w.Hash)
	if fermata.CodeOf(err) == fermata.CodeUnavailable {
		return nil, nil, nil, err
	}
	if err != nil {
		return nil, nil, nil, permanentError(codeInput, err)
	}
	given, _ := input["inputs"].(map[string]any)
	inputs, err := checkInputs(d, given)
	if err != nil {
		return nil, nil, nil, permanentError(codeInput, err)
	}
	return w, d, inputs, nil
}

// checkDelegatedRun returns a [stepError] if no run of another workflow can start as a child of this run.
func (s *Service) checkDelegatedRun(x *execution, r store.Reader, _ *definition.Step, u unit) error {
	_, _, _, err := s.checkedWorkflow(x, r, u.input)
	return err
}

// checkedWorkflow returns what findWorkflow returns. It returns a [stepError] if this run may not start that workflow.
func (s *Service) checkedWorkflow(x *execution, r store.Reader, input map[string]any) (*fermata.Workflow, *definition.Workflow, map[string]any, error) {
	w, d, inputs, err := s.findWorkflow(r, x.run.Project, input)
	if err != nil {
		return nil, nil, nil, err
	}
	_, ownRunID, err := findAncestorRuns(r, x.run.ID, w.Name)
	switch {
	case err != nil:
		return nil, nil, nil, err
	case ownRunID != "":
		return nil, nil, nil, permanentError(codeInput, fermata.Errorf(fermata.CodeIllegalTransition, "the workflow %s would start itself without end: this step is part of its run %s", w.Name, ownRunID).
			WithHint("name another workflow, or go back with goto, which is counted"))
	case x.containsSecret(input["inputs"]):
		return nil, nil, nil, errExposesSecret("the run")
	}
	return w, d, inputs, nil
}

// createRun starts a run of another workflow as a child of this run.
func (s *Service) createRun(x *execution, h *engine.LeasedRun, _ *definition.Step, u unit) (*fermata.Task, error) {
	w, d, inputs, err := s.checkedWorkflow(x, h.Tx.Reader, u.input)
	if err != nil {
		return nil, err
	}
	id, err := s.fire(h.Tx, firing{
		def: d, workflow: w, trigger: fermata.TriggerWorkflow, inputs: inputs, startedBy: x.run.StartedBy, parent: x.run.ID, mustStart: true,
		cause: map[string]any{"type": string(fermata.TriggerWorkflow), "run": x.run.ID, "workflow": x.run.Workflow, "step": u.row.Step},
	})
	if err != nil {
		return nil, permanentError(codeInput, err)
	}
	return h.Tx.Task(id)
}

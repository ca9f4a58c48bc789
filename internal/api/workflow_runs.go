package api

import (
	"context"
	"encoding/json"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow"
)

// WorkflowRunsInput narrows a list of workflow runs. It is exported because
// huma ignores embedded structs that are not.
type WorkflowRunsInput struct {
	PageInput
	State   []fermata.TaskState `query:"state" maxItems:"20" doc:"separated by commas"`
	Trigger fermata.TriggerType `query:"trigger" enum:"label_added,deployment,schedule,webhook,manual,event,workflow" doc:"what started it"`
}

func (in *WorkflowRunsInput) filter() workflow.RunFilter {
	return workflow.RunFilter{State: in.State, Trigger: in.Trigger, Cursor: in.Cursor, Limit: in.Limit}
}

// runsOfOne narrows a list of one workflow's runs.
type runsOfOne struct {
	WorkflowInput
	WorkflowRunsInput
}

// runsOfAll narrows a list of all workflows' runs.
type runsOfAll struct {
	WorkflowRunsInput
	Workflow string `query:"workflow" maxLength:"64" doc:"name of the workflow"`
	Project  string `query:"project" maxLength:"64"`
}

// newRun holds the inputs of a new workflow run.
type newRun struct {
	Inputs map[string]any `json:"inputs,omitempty" doc:"by name, of the types that the workflow says"`
}

type newRunBody struct {
	WorkflowInput
	Body *newRun
}

// runRetry holds the input for another attempt of a failed step.
type runRetry struct {
	Input json.RawMessage `json:"input,omitempty" doc:"an object: what the step that failed gets instead of its input"`
}

type (
	workflowRunReply = reply[*fermata.WorkflowRun]
	workflowRunList  = reply[page[*fermata.WorkflowRun]]
)

func (s *Server) registerWorkflowRuns() {
	start := withStatusCreated(operation("POST /workflows/{name}/runs", "start-workflow", "Start a run by hand"))
	start.Description = "A run is a task: it is cancelled, and its thread read, under the same id."
	addWorkflow(s, start,
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *newRunBody) (*workflowRunReply, error) {
			var inputs map[string]any
			if in.Body != nil {
				inputs = in.Body.Inputs
			}
			return replyOf(w.Start(ctx, c, in.Name, inputs))
		})
	addWorkflow(s, operation("GET /workflows/{name}/runs", "list-runs-of-workflow", "List the runs of a workflow, the newest first"),
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *runsOfOne) (*workflowRunList, error) {
			f := in.filter()
			f.Workflow = in.Name
			return pageOf(w.Runs(ctx, c, f))
		})
	addWorkflow(s, operation("GET /workflow-runs", "list-workflow-runs", "List the runs of all workflows, the newest first"),
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *runsOfAll) (*workflowRunList, error) {
			f := in.filter()
			f.Workflow, f.Project = in.Workflow, in.Project
			return pageOf(w.Runs(ctx, c, f))
		})
	addWorkflow(s, operation("GET /workflow-runs/{id}", "get-workflow-run", "Read a run, with its steps, its graph, and the question that it waits for"),
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *IDInput) (*workflowRunReply, error) {
			return replyOf(w.RunDetails(ctx, c, in.ID))
		})
	addWorkflow(s, operation("POST /workflow-runs/{id}/retry", "retry-workflow-run", "Let a run that ended without success go on with the step where it ended"),
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *idBody[*runRetry]) (*workflowRunReply, error) {
			var input json.RawMessage
			if in.Body != nil {
				input = in.Body.Input
			}
			return replyOf(w.Retry(ctx, c, in.ID, input))
		})
	addWorkflow(s, operation("POST /workflow-runs/{id}/rewind", "rewind-workflow-run", "Send a run back to a step that it has begun, with feedback for it"),
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *idBody[*fermata.RunRewind]) (*workflowRunReply, error) {
			var to fermata.RunRewind
			if in.Body != nil {
				to = *in.Body
			}
			return replyOf(w.Rewind(ctx, c, in.ID, to))
		})
	addWorkflow(s, operation("POST /workflow-runs/{id}/move", "move-workflow-run", "Let a run go on with the newest definition of its workflow"),
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *idBody[*nothing]) (*workflowRunReply, error) {
			return replyOf(w.Move(ctx, c, in.ID))
		})
}

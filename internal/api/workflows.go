package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// WorkflowInput names a workflow in the path. It is exported because huma
// ignores embedded structs that are not.
type WorkflowInput struct {
	Name string `path:"name" maxLength:"64"`
}

type workflowBody struct {
	WorkflowInput
	Body workflow.Definition
}

// workflowVersion names a workflow, and optionally an earlier definition of it.
type workflowVersion struct {
	WorkflowInput
	Hash string `query:"hash" maxLength:"64" doc:"of an earlier definition, such as the one that a run is pinned to"`
}

// workflowSource is a definition to check.
type workflowSource struct {
	Source string `json:"source" maxLength:"262144" doc:"the definition as YAML"`
}

// webhookSecret is a secret that is shown only once.
type webhookSecret struct {
	Secret string `json:"secret,omitempty" doc:"signs requests to the webhook (Standard Webhooks); only the first reply to a request has it"`
}

type workflowReply = reply[*fermata.Workflow]

// addWorkflow registers a call of the workflow service. A server may run without
// this service.
func addWorkflow[I, O any](s *Server, op huma.Operation, h func(context.Context, *workflow.Service, fermata.Caller, *I) (*O, error)) {
	addOperation(s, op, func(ctx context.Context, c fermata.Caller, in *I) (*O, error) {
		if s.Workflows == nil {
			return nil, fermata.Errorf(fermata.CodeNotFound, "this server runs no workflows")
		}
		return h(ctx, s.Workflows, c, in)
	})
}

func (s *Server) registerWorkflows() {
	addWorkflow(s, operation("GET /workflows", "list-workflows", "List the workflows, each with its newest run"),
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, _ *struct{}) (*reply[page[*fermata.Workflow]], error) {
			return listOf(w.Workflows(ctx, c))
		})
	addWorkflow(s, operation("POST /workflows/validate", "validate-workflow", "List everything that is wrong with a definition; nothing is stored"),
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *bodyInput[workflowSource]) (*reply[fermata.WorkflowCheck], error) {
			v, err := w.Validate(ctx, c, in.Body.Source)
			if v.Problems == nil {
				v.Problems = []fermata.DefinitionProblem{}
			}
			return replyOf(v, err)
		})
	test := operation("POST /workflows/test", "test-workflow", "Run a definition with scripted tools and people; nothing is stored, and nobody is notified")
	test.Description = "What fermata workflow test does, on the server: the clock goes on by itself, and no tool is called. The server does one " +
		"test at a time, for at most 20 seconds."
	addWorkflow(s, test,
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *bodyInput[workflow.Trial]) (*reply[*fermata.TestReport], error) {
			return replyOf(w.Simulate(ctx, c, in.Body))
		})
	addWorkflow(s, operation("GET /workflows/{name}", "get-workflow", "Read a workflow, with its source and its graph"),
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *workflowVersion) (*workflowReply, error) {
			return replyOf(w.Workflow(ctx, c, in.Name, in.Hash))
		})
	put := operation("PUT /workflows/{name}", "put-workflow", "Store a definition")
	put.Description = "Runs that are under way stay with the definition that they began with. A definition that is not right is " +
		"refused with every problem at once; field is its place, as in source:12:5."
	addWorkflow(s, put,
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *workflowBody) (*workflowReply, error) {
			return replyOf(w.Put(ctx, c, in.Name, in.Body))
		})
	for _, verb := range []struct {
		name, about string
		on          bool
	}{
		{"enable", "Let triggers start runs; what happened before starts nothing", true},
		{"disable", "Let no trigger start a run any more; runs that are under way go on", false},
	} {
		addWorkflow(s, operation("POST /workflows/{name}/"+verb.name, verb.name+"-workflow", verb.about),
			func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *namedNothing) (*workflowReply, error) {
				return replyOf(w.SetEnabled(ctx, c, in.Name, verb.on))
			})
	}
	addWorkflow(s, operation("DELETE /workflows/{name}", "remove-workflow", "Remove a workflow; its runs go on, and can be looked at"),
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *WorkflowInput) (*empty, error) {
			return emptyOf(w.Delete(ctx, c, in.Name))
		})
	addWorkflow(s, operation("POST /workflows/{name}/webhook-secret", "new-webhook-secret", "Make the secret that signs requests to the webhook; an earlier one is void"),
		func(ctx context.Context, w *workflow.Service, c fermata.Caller, in *namedNothing) (*reply[webhookSecret], error) {
			secret, err := w.NewWebhookSecret(ctx, c, in.Name)
			return replyOf(webhookSecret{secret}, err)
		})
	s.registerWorkflowRuns()
	s.registerNamedTools()
	s.registerWorkflowHook()
	s.mux.HandleFunc("GET "+workflowSchemaPath, workflowSchema)
}

// namedNothing is a workflow in the path, and no body or an empty object.
type namedNothing struct {
	WorkflowInput
	Body *nothing
}

// workflowSchemaPath is the path of the JSON Schema with which editors check
// definitions. It shows nothing about people or their work.
const workflowSchemaPath = "/schemas/workflow.json"

func workflowSchema(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/schema+json")
	// An error means that the client is gone, so there is nothing to do.
	_, _ = w.Write(definition.Schema())
}

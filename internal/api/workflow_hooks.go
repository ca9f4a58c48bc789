package api

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// workflowHookPath is the path below which remote systems start workflow runs.
// It needs no token, because the signature of the request identifies the
// sender.
const workflowHookPath = "/v1/hooks/workflow/"

// hooked names the run that a webhook started.
type hooked struct {
	RunID string `json:"run_id,omitempty" doc:"the same for a request that is sent again; missing if the body does not meet the condition of the trigger"`
}

// registerWorkflowHook registers the webhook of workflows. It does not use huma,
// which would decode the body: the signature covers its exact bytes.
func (s *Server) registerWorkflowHook() {
	s.mux.HandleFunc("POST "+workflowHookPath+"{name}", s.workflowHook)
	op := operation("POST /hooks/workflow/{name}", "call-workflow-webhook", "Start a run of a workflow that has a webhook")
	op.Description = "Signed as Standard Webhooks says, with the headers webhook-id, webhook-timestamp and webhook-signature. " +
		"A request whose webhook-id was there before starts nothing and gets the same reply."
	op.Security = []map[string][]string{{}}
	op.Parameters = []*huma.Param{{Name: "name", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}}
	op.RequestBody = &huma.RequestBody{Content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{}}}}
	op.Responses = map[string]*huma.Response{
		"202": {
			Description: "the request was taken; run_id names the run that it started",
			Content:     map[string]*huma.MediaType{"application/json": {Schema: s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[hooked](), true, "")}},
		},
		"default": {
			Description: "Error",
			Content: map[string]*huma.MediaType{
				"application/problem+json": {Schema: s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[ProblemDetails](), true, "")},
			},
		},
	}
	s.api.OpenAPI().AddOperation(&op)
}

// workflowHook passes a request to the workflow that it names.
func (s *Server) workflowHook(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	runID, err := s.callWorkflow(w, r, name)
	if err != nil {
		s.writeProblem(w, r, s.hideFromStrangers(r, name, err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	// An error means that the client is gone, so there is nothing to do.
	_ = json.NewEncoder(w).Encode(hooked{runID})
}

func (s *Server) callWorkflow(w http.ResponseWriter, r *http.Request, name string) (string, error) {
	if s.Workflows == nil {
		return "", fermata.NotFound("workflow", name)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, fermata.MaxWebhookBody))
	if err != nil {
		return "", bodyError(err)
	}
	return s.Workflows.StartByWebhook(r.Context(), store.DefaultWorkspace, name, r.Header, body)
}

// hideFromStrangers hides from a caller without a valid signature which workflows
// exist: all such refusals look the same. The log has the reason.
func (s *Server) hideFromStrangers(r *http.Request, name string, err error) error {
	switch fermata.CodeOf(err) {
	case fermata.CodeNotFound, fermata.CodeForbidden, fermata.CodeUnauthenticated:
	default:
		return err
	}
	s.Log.LogAttrs(r.Context(), slog.LevelInfo, "a webhook was refused", slog.String("workflow", name), slog.Any("error", err))
	return fermata.Errorf(fermata.CodeUnauthenticated, "no workflow takes this request: its name, its state or the signature is not right").
		WithHint("sign it as Standard Webhooks says, with the secret of fermata workflow webhook-secret; the server's log says what is wrong")
}

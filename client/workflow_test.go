package client

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/fermata-hq/fermata"
)

// TestWorkflowCalls checks the request of each call.
func TestWorkflowCalls(t *testing.T) {
	t.Parallel()
	var asked string
	c := newTest(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = r.Method + " " + r.URL.RequestURI() + " " + string(body)
		if r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		writeJSON(w, http.StatusOK, map[string]any{"secret": "whsec_x", "items": []any{}, "next_cursor": "n"})
	})
	ctx, off := t.Context(), false
	for want, call := range map[string]func() error{
		`POST /v1/workflows/validate {"source":"name: a"}`: func() error { _, err := c.CheckWorkflow(ctx, "name: a"); return err },
		`PUT /v1/workflows/a {"source":"name: a"}`:         func() error { _, err := c.PutWorkflow(ctx, "a", Definition{Source: "name: a"}); return err },
		`PUT /v1/workflows/a {"source":"name: a","enabled":false}`: func() error {
			_, err := c.PutWorkflow(ctx, "a", Definition{Source: "name: a", Enabled: &off})
			return err
		},
		`GET /v1/workflows `:                                func() error { _, err := c.Workflows(ctx); return err },
		`GET /v1/workflows/a?hash=h `:                       func() error { _, err := c.Workflow(ctx, "a", "h"); return err },
		`DELETE /v1/workflows/a `:                           func() error { return c.RemoveWorkflow(ctx, "a") },
		`POST /v1/workflows/a/runs {"inputs":{"issue":42}}`: func() error { _, err := c.StartWorkflow(ctx, "a", map[string]any{"issue": 42}); return err },
		`POST /v1/workflows/a/runs {}`:                      func() error { _, err := c.StartWorkflow(ctx, "a", nil); return err },
		`GET /v1/workflow-runs/3f9k2a `:                     func() error { _, err := c.WorkflowRun(ctx, "3f9k2a"); return err },
		`POST /v1/workflow-runs/3f9k2a/retry {}`:            func() error { _, err := c.RetryWorkflowRun(ctx, "3f9k2a", nil); return err },
		`POST /v1/workflow-runs/3f9k2a/rewind {"step":"draft","feedback":"Shorter."}`: func() error {
			_, err := c.RewindWorkflowRun(ctx, "3f9k2a", fermata.RunRewind{Step: "draft", Feedback: "Shorter."})
			return err
		},
		`POST /v1/workflow-runs/3f9k2a/move `:                   func() error { _, err := c.MoveWorkflowRun(ctx, "3f9k2a"); return err },
		`POST /v1/workflow-runs/3f9k2a/retry {"input":{"a":1}}`: func() error { _, err := c.RetryWorkflowRun(ctx, "3f9k2a", json.RawMessage(`{"a":1}`)); return err },
		`GET /v1/tools `:       func() error { _, err := c.Tools(ctx); return err },
		`GET /v1/named-tools `: func() error { _, err := c.NamedTools(ctx); return err },
		`GET /v1/tools/check `: func() error { _, err := c.NamedTool(ctx, "check"); return err },
		`PUT /v1/tools/check {"command":["make"],"schema":{},"timeout":"1m"}`: func() error {
			_, err := c.PutNamedTool(ctx, "check", ToolDefinition{Command: []string{"make"}, Schema: json.RawMessage(`{}`), Timeout: "1m"})
			return err
		},
		`POST /v1/tools {"items":[{"name":"check","command":["make"]}]}`: func() error {
			_, err := c.PutNamedTools(ctx, []NamedDefinition{{Name: "check", ToolDefinition: ToolDefinition{Command: []string{"make"}}}})
			return err
		},
		`POST /v1/workflows/a/enable {}`:  func() error { _, err := c.EnableWorkflow(ctx, "a"); return err },
		`POST /v1/workflows/a/disable {}`: func() error { _, err := c.DisableWorkflow(ctx, "a"); return err },
		`DELETE /v1/tools/check `:         func() error { return c.RemoveNamedTool(ctx, "check") },
		`POST /v1/workflows/a/webhook-secret {}`: func() error {
			secret, err := c.NewWebhookSecret(ctx, "a")
			if secret != "whsec_x" {
				t.Errorf("secret %q", secret)
			}
			return err
		},
		`GET /v1/workflow-runs?cursor=c&limit=2&project=p&state=failed%2Cdone&trigger=schedule&workflow=a `: func() error {
			_, next, err := c.WorkflowRuns(ctx, WorkflowRunQuery{
				Workflow: "a", State: []fermata.TaskState{fermata.TaskFailed, fermata.TaskDone}, Trigger: fermata.TriggerSchedule, Project: "p", Limit: 2, Cursor: "c",
			})
			if next != "n" {
				t.Errorf("next %q", next)
			}
			return err
		},
	} {
		if err := call(); err != nil || asked != want {
			t.Errorf("asked %s, %v; want %s", asked, err, want)
		}
	}
	if _, err := c.Workflow(ctx, "a/../../b", ""); fermata.CodeOf(err) != fermata.CodeNotFound {
		t.Errorf("a name that is none: %v", err)
	}
}

package api_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

// routes lists every call of the API.
var routes = []string{
	"DELETE /v1/gate-rules/{id}", "DELETE /v1/members/{id}/answer-links", "DELETE /v1/tokens/{id}", "GET /v1/analytics/projects", "GET /v1/analytics/questions", "GET /v1/analytics/responders", "GET /v1/analytics/series", "GET /v1/analytics/summary", "GET /v1/audit", "GET /v1/audit/export", "GET /v1/audit/trimmed-ranges", "GET /v1/audit/verify", "GET /v1/retention", "GET /v1/events", "GET /v1/gate-rules", "GET /v1/members", "GET /v1/policies", "GET /v1/projects",
	"GET /v1/questions", "GET /v1/questions/{id}", "GET /v1/runs/{id}", "GET /v1/runs/{id}/log", "GET /v1/tasks", "GET /v1/tasks/counts", "GET /v1/tasks/{id}",
	"GET /v1/tasks/{id}/context", "GET /v1/tasks/{id}/events", "GET /v1/tasks/{id}/messages", "GET /v1/tasks/{id}/questions",
	"GET /v1/tasks/{id}/runs", "GET /v1/tasks/{id}/timeline", "GET /v1/tasks/{id}/tree", "GET /v1/tokens", "GET /v1/whoami", "GET /v1/workers", "PATCH /v1/tasks/{id}",
	"POST /v1/answers", "POST /v1/attention", "POST /v1/claims", "POST /v1/gate-rules", "POST /v1/gates", "POST /v1/grants/verify", "POST /v1/members", "POST /v1/questions", "POST /v1/questions/{id}/answer",
	"POST /v1/questions/{id}/cancel", "POST /v1/questions/{id}/clarify", "POST /v1/questions/{id}/extend",
	"POST /v1/runs/{id}/finish", "POST /v1/runs/{id}/heartbeat", "POST /v1/runs/{id}/log", "POST /v1/runs/{id}/progress",
	"POST /v1/runs/{id}/release", "POST /v1/tasks", "POST /v1/tasks/{id}/cancel", "POST /v1/tasks/{id}/defer",
	"POST /v1/tasks/{id}/finish", "POST /v1/tasks/{id}/messages", "POST /v1/tasks/{id}/messages/handed", "POST /v1/tasks/{id}/progress", "POST /v1/tasks/{id}/questions",
	"POST /v1/tasks/{id}/pause", "POST /v1/tasks/{id}/reopen", "POST /v1/tasks/{id}/resume", "POST /v1/tokens", "POST /v1/workers/leave", "PUT /v1/policies",
}

type document struct {
	OpenAPI    string
	Paths      map[string]map[string]call
	Components struct {
		SecuritySchemes map[string]any
		Schemas         map[string]any
	}
}

type call struct {
	OperationID string
	Summary     string
	Tags        []string
	Security    []map[string][]string
	Permission  string `json:"x-fermata-permission"`
}

func readDocument(t *testing.T, w *world) document {
	t.Helper()
	var d document
	if err := json.Unmarshal(w.call("", "GET /openapi.json", "").body, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDocumentListsEveryRoute(t *testing.T) {
	t.Parallel()
	d := readDocument(t, newWorld(t))
	if !strings.HasPrefix(d.OpenAPI, "3.1") {
		t.Errorf("version %q", d.OpenAPI)
	}
	var got []string
	ids := map[string]bool{}
	for path, calls := range d.Paths {
		for method, c := range calls {
			got = append(got, strings.ToUpper(method)+" "+path)
			if c.OperationID == "" || ids[c.OperationID] || c.Summary == "" || len(c.Tags) == 0 || len(c.Security) == 0 {
				t.Errorf("%s %s is described as %+v", method, path, c)
			}
			ids[c.OperationID] = true
			if c.Permission == "" || c.Permission != fermata.VerbOf(c.OperationID).String() {
				t.Errorf("%s %s needs the permission %q, the table says %q", method, path, c.Permission, fermata.VerbOf(c.OperationID))
			}
		}
	}
	for _, v := range fermata.Verbs() {
		for _, id := range v.Operations() {
			if !ids[id] {
				t.Errorf("the row %s of the table names the call %s, which is not there", v, id)
			}
		}
	}
	slices.Sort(got)
	want := slices.Sorted(slices.Values(slices.Concat(routes, accessRoutes, inboxRoutes, channelRoutes, workflowRoutes)))
	if !slices.Equal(got, want) {
		t.Errorf("documented\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if _, ok := d.Components.SecuritySchemes["bearer"]; !ok {
		t.Errorf("security schemes %v", slices.Collect(maps.Keys(d.Components.SecuritySchemes)))
	}
}

func TestDocumentedReferencesExist(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := readDocument(t, w)
	const prefix = `"$ref":"#/components/schemas/`
	for rest := string(w.call("", "GET /openapi.json", "").body); ; {
		_, after, found := strings.Cut(rest, prefix)
		if !found {
			break
		}
		name, _, _ := strings.Cut(after, `"`)
		if _, ok := d.Components.Schemas[name]; !ok {
			t.Errorf("there is no schema %s", name)
		}
		rest = after
	}
}

func TestRepliesCarryNoSchemaLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.call(w.agent, "POST /v1/tasks", `{"title":"t"}`)
	if r.status != http.StatusCreated || strings.Contains(string(r.body), "$schema") || r.header.Get("Link") != "" {
		t.Errorf("%v %s", r.header, r.body)
	}
}

// The context of every question may be a text, and the document says so.
func TestContextOfEveryQuestionMayBeText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asked := 0
	for name, s := range readDocument(t, w).Components.Schemas {
		properties, _ := s.(map[string]any)["properties"].(map[string]any)
		contextSchema, ok := properties["context"].(map[string]any)
		if _, request := properties["dedupe_key"]; !ok || !request || properties["workspace_id"] != nil {
			continue
		}
		asked++
		if forms, _ := contextSchema["oneOf"].([]any); len(forms) != 2 {
			t.Errorf("the context in %s is %v, not a text or an object", name, contextSchema)
		}
	}
	if asked < 2 {
		t.Errorf("the document has %d requests with a context of a question", asked)
	}
	r := w.call(w.agent, "POST /v1/questions", `{"question":"A?","context":"ctx text"}`)
	if r.status != http.StatusCreated || !strings.Contains(string(r.body), `"text":"ctx text"`) {
		t.Errorf("a question with a text as its context: %d %s", r.status, r.body)
	}
}

// The generated types of clients have all types of events, and those of notifications.
func TestDocumentListsTheTypesOfEvents(t *testing.T) {
	t.Parallel()
	schemas := readDocument(t, newWorld(t)).Components.Schemas
	for name, types := range map[string][]fermata.EventType{"EventType": fermata.EventTypes, "NotificationType": fermata.NotificationTypes} {
		var want []any
		for _, each := range types {
			want = append(want, string(each))
		}
		schema, _ := schemas[name].(map[string]any)
		if listed, _ := schema["enum"].([]any); !slices.Equal(listed, want) {
			t.Errorf("%s lists %v, want %v", name, listed, want)
		}
	}
	for name, want := range map[string]string{"Event": "EventType", "TimelineEntry": "EventType", "Notification": "NotificationType"} {
		schema, _ := schemas[name].(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		field, _ := properties["type"].(map[string]any)
		if field["$ref"] != "#/components/schemas/"+want {
			t.Errorf("the type of %s is %v", name, field)
		}
	}
}

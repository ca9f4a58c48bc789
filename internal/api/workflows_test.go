package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/api"
)

// workflowRoutes are the calls about workflows.
var workflowRoutes = []string{
	"DELETE /v1/mcp-servers/{name}", "DELETE /v1/tools/{name}", "DELETE /v1/workflows/{name}",
	"GET /v1/mcp-servers", "GET /v1/mcp-servers/{name}", "GET /v1/named-tools", "GET /v1/tools", "GET /v1/tools/{name}",
	"GET /v1/workflow-runs", "GET /v1/workflow-runs/{id}", "GET /v1/workflows", "GET /v1/workflows/{name}", "GET /v1/workflows/{name}/runs",
	"POST /v1/hooks/workflow/{name}", "POST /v1/tools", "POST /v1/tools/{name}/refresh", "POST /v1/workflow-runs/{id}/retry", "POST /v1/workflow-runs/{id}/rewind", "POST /v1/workflow-runs/{id}/move", "POST /v1/workflows/validate", "POST /v1/workflows/test",
	"POST /v1/workflows/{name}/disable", "POST /v1/workflows/{name}/enable", "POST /v1/workflows/{name}/runs", "POST /v1/workflows/{name}/webhook-secret",
	"PUT /v1/mcp-servers/{name}", "PUT /v1/tools/{name}", "PUT /v1/workflows/{name}",
}

const deploy = `name: deploy
description: Asks, then waits.
triggers:
  - manual: true
  - webhook: true
inputs:
  version: {type: string, required: true}
  times: {type: number, default: 1}
steps:
  - id: go_on
    tool: post_question
    input: {question: "Deploy {{ inputs.version }}?", options: [now, later]}
    suspend: true
`

// put stores a definition as the admin.
func (w *world) put(source string) *fermata.Workflow {
	w.Helper()
	name, _, _ := strings.Cut(strings.TrimPrefix(source, "name: "), "\n")
	var stored fermata.Workflow
	w.must(http.StatusOK, w.admin, "PUT /v1/workflows/"+name, quoted(map[string]any{"source": source}), &stored)
	return &stored
}

func quoted(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func TestWorkflowIsStoredListedAndRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if stored := w.put(deploy); !stored.Enabled || stored.Hash == "" || stored.Graph == nil || stored.Project != fermata.DefaultProject {
		t.Errorf("stored %+v", stored)
	}
	var got fermata.Workflow
	w.must(http.StatusOK, w.admin, "GET /v1/workflows/deploy", "", &got)
	if got.Source != deploy || len(got.Triggers) != 2 || len(got.Inputs) != 2 || got.Triggers[1].URL == "" {
		t.Errorf("got %+v", got)
	}
	w.must(http.StatusOK, w.admin, "PUT /v1/workflows/deploy", quoted(map[string]any{"source": deploy, "enabled": false}), &got)
	if got.Enabled {
		t.Error("it is enabled")
	}
	w.must(http.StatusOK, w.admin, "POST /v1/workflows/deploy/enable", "", &got)
	if !got.Enabled || got.Source != deploy {
		t.Errorf("enabled %+v", got)
	}
	w.must(http.StatusOK, w.admin, "POST /v1/workflows/deploy/disable", "{}", &got)
	w.must(http.StatusForbidden, w.agent, "POST /v1/workflows/deploy/enable", "", nil)
	var list struct{ Items []fermata.Workflow }
	w.must(http.StatusOK, w.admin, "GET /v1/workflows", "", &list)
	if len(list.Items) != 1 || list.Items[0].Source != "" || list.Items[0].Enabled {
		t.Errorf("list %+v", list)
	}
	w.must(http.StatusNoContent, w.admin, "DELETE /v1/workflows/deploy", "", nil)
	w.must(http.StatusNotFound, w.admin, "GET /v1/workflows/deploy", "", nil)
	w.must(http.StatusNotFound, w.admin, "DELETE /v1/workflows/deploy", "", nil)
}

func TestEarlierDefinitionIsReadByItsHash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.put(deploy)
	second := w.put(strings.Replace(deploy, "Asks, then waits.", "Asks.", 1))
	var got fermata.Workflow
	w.must(http.StatusOK, w.admin, "GET /v1/workflows/deploy?hash="+first.Hash, "", &got)
	if got.Source != deploy || first.Hash == second.Hash {
		t.Errorf("hash %s is %+v", first.Hash, got)
	}
	w.must(http.StatusNotFound, w.admin, "GET /v1/workflows/deploy?hash=abc", "", nil)
}

func TestBadDefinitionIsRefusedWithEveryProblem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bad := strings.NewReplacer("  - id: go_on\n", "  - id: go_on\n    colour: red\n", "suspend: true", "suspend: maybe").Replace(deploy)
	r := w.call(w.admin, "PUT /v1/workflows/deploy", quoted(map[string]any{"source": bad}))
	p := r.problem(t)
	if r.status != http.StatusBadRequest || p.Code != fermata.CodeInvalidRequest || len(p.Problems) < 2 {
		t.Fatalf("%d %+v", r.status, p)
	}
	if got := p.Problems[0].Field; got != "source:11:5" {
		t.Errorf("the first is at %s: %+v", got, p.Problems)
	}
	var check struct {
		Valid    bool
		Problems []fermata.DefinitionProblem
	}
	w.must(http.StatusOK, w.admin, "POST /v1/workflows/validate", quoted(map[string]any{"source": bad}), &check)
	if check.Valid || len(check.Problems) != len(p.Problems) || check.Problems[0].Excerpt == "" || check.Problems[0].Hint == "" {
		t.Errorf("check %+v", check)
	}
	w.must(http.StatusNotFound, w.admin, "GET /v1/workflows/deploy", "", nil)
}

func TestValidationTellsTheGraphAndStoresNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.Head()
	var check struct {
		Name     string
		Valid    bool
		Problems []fermata.DefinitionProblem
		Graph    *fermata.WorkflowGraph
	}
	w.must(http.StatusOK, w.admin, "POST /v1/workflows/validate", quoted(map[string]any{"source": deploy}), &check)
	if !check.Valid || check.Name != "deploy" || check.Graph == nil || len(check.Graph.Nodes) < 3 || check.Problems == nil {
		t.Errorf("check %+v", check)
	}
	if w.Head() != before {
		t.Error("it left an event")
	}
}

// TestADefinitionIsTested runs a definition on the server, with generated answers and with a script. It writes no
// events.
func TestADefinitionIsTested(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.Head()
	type report struct {
		Passed   bool
		Script   string
		Failures []string
		Problems []fermata.DefinitionProblem
		Run      *fermata.WorkflowRun
	}
	test := func(source, script string) (got report) {
		t.Helper()
		r := w.call(w.admin, "POST /v1/workflows/test", quoted(map[string]any{"source": source, "script": script}), "Idempotency-Key", "a test")
		if err := json.Unmarshal(r.body, &got); err != nil || r.status != http.StatusOK {
			t.Fatalf("%d %s", r.status, r.body)
		}
		return got
	}
	made := test(deploy, "")
	if !made.Passed || made.Run == nil || made.Run.State != fermata.TaskDone || !strings.Contains(made.Script, "version: made up") {
		t.Errorf("made up %+v", made)
	}
	again := test(deploy, made.Script)
	if !again.Passed || again.Script != "" || len(again.Run.Steps) != len(made.Run.Steps) {
		t.Errorf("again %+v", again)
	}
	if other := test(deploy, strings.Replace(made.Script, "state: done", "state: failed", 1)); other.Passed || len(other.Failures) != 1 {
		t.Errorf("other %+v", other)
	}
	if bad := test("name: bad\n", ""); bad.Passed || len(bad.Problems) == 0 || bad.Run != nil {
		t.Errorf("bad %+v", bad)
	}
	for script, want := range map[string]string{
		"expects: {}":                       "expects",
		"inputs: {version: &a 1, more: *a}": "anchors are not supported",
		"answers: {nobody: yes}":            "is no step of the workflow",
		"inputs: {colour: red}":             "is no input",
	} {
		r := w.call(w.admin, "POST /v1/workflows/test", quoted(map[string]any{"source": deploy, "script": script}))
		if r.status != http.StatusBadRequest || !strings.Contains(string(r.body), want) {
			t.Errorf("%s: %d %s", script, r.status, r.body)
		}
	}
	if w.Head() != before {
		t.Error("it left an event")
	}
}

func TestWorkflowRequestsThatAreWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(deploy)
	reader := w.token(`{"name":"eve","kind":"human","member":"eve","role":"viewer","scopes":["read"]}`)
	source := quoted(map[string]any{"source": deploy})
	for _, c := range []struct {
		token, call, body string
		status            int
		code              fermata.Code
	}{
		{"", "GET /v1/workflows", "", 401, fermata.CodeUnauthenticated},
		{"", "PUT /v1/workflows/deploy", source, 401, fermata.CodeUnauthenticated},
		{w.agent, "PUT /v1/workflows/deploy", source, 403, fermata.CodeForbidden},
		{w.agent, "POST /v1/workflows/test", source, 403, fermata.CodeForbidden},
		{reader, "POST /v1/workflows/test", source, 403, fermata.CodeForbidden},
		{w.admin, "POST /v1/workflows/test", `{"script":"expect: {}"}`, 400, fermata.CodeInvalidRequest},
		{w.agent, "DELETE /v1/workflows/deploy", "", 403, fermata.CodeForbidden},
		{w.agent, "POST /v1/workflows/deploy/webhook-secret", "", 403, fermata.CodeForbidden},
		{w.agent, "PUT /v1/tools/run_checks", `{"command":["make"]}`, 403, fermata.CodeForbidden},
		{reader, "PUT /v1/workflows/deploy", source, 403, fermata.CodeForbidden},
		{reader, "POST /v1/workflows/deploy/runs", `{"inputs":{"version":"1"}}`, 403, fermata.CodeForbidden},
		{w.admin, "PUT /v1/workflows/other", source, 400, fermata.CodeInvalidRequest},
		{w.admin, "PUT /v1/workflows/deploy", `{"source":""}`, 400, fermata.CodeInvalidRequest},
		{w.admin, "PUT /v1/workflows/deploy", `{"yaml":"x","source":"name: a"}`, 400, fermata.CodeInvalidRequest},
		{w.admin, "PUT /v1/workflows/deploy", `{"source":"` + strings.Repeat("a", fermata.MaxWorkflowSource+1) + `"}`, 400, fermata.CodeInvalidRequest},
		{w.admin, "POST /v1/workflows/deploy/runs", `{}`, 400, fermata.CodeInvalidRequest},
		{w.admin, "POST /v1/workflows/deploy/runs", `{"inputs":{"version":7}}`, 400, fermata.CodeInvalidRequest},
		{w.admin, "POST /v1/workflows/deploy/runs", `{"inputs":{"version":"1","colour":"red"}}`, 400, fermata.CodeInvalidRequest},
		{w.admin, "POST /v1/workflows/deploy/runs", `{"input":{}}`, 400, fermata.CodeInvalidRequest},
		{w.admin, "POST /v1/workflows/nothing/runs", `{}`, 404, fermata.CodeNotFound},
		{w.admin, "POST /v1/workflows/nothing/webhook-secret", "", 404, fermata.CodeNotFound},
		{w.admin, "GET /v1/workflow-runs?state=happy", "", 400, fermata.CodeInvalidRequest},
		{w.admin, "GET /v1/workflow-runs?trigger=moon", "", 400, fermata.CodeInvalidRequest},
		{w.admin, "GET /v1/workflow-runs/zzzzzz", "", 404, fermata.CodeNotFound},
		{w.admin, "POST /v1/workflow-runs/zzzzzz/retry", "", 404, fermata.CodeNotFound},
		{w.admin, "PUT /v1/tools/run_checks", `{}`, 400, fermata.CodeInvalidRequest},
		{w.admin, "PUT /v1/tools/run_checks", `{"command":["make"],"server":{"url":"https://example.com"}}`, 400, fermata.CodeInvalidRequest},
		{w.admin, "PUT /v1/tools/shell", `{"command":["make"]}`, 400, fermata.CodeInvalidRequest},
		{w.admin, "PUT /v1/tools/run_checks", `{"command":["make"],"updated_by":{}}`, 400, fermata.CodeInvalidRequest},
		{w.agent, "POST /v1/tools", `{"items":[{"name":"a","command":["make"]}]}`, 403, fermata.CodeForbidden},
		{w.agent, "POST /v1/tools/tracker/refresh", `{}`, 403, fermata.CodeForbidden},
		{w.admin, "POST /v1/tools/nowhere/refresh", `{}`, 404, fermata.CodeNotFound},
		{w.admin, "POST /v1/tools", `{"items":[]}`, 400, fermata.CodeInvalidRequest},
		{w.admin, "POST /v1/tools", `{"items":[{"name":"a","command":["make"]},{"name":"a","command":["make"]}]}`, 400, fermata.CodeInvalidRequest},
		{w.admin, "POST /v1/workflows/nothing/enable", "", 404, fermata.CodeNotFound},
		{w.admin, "GET /v1/tools/nothing", "", 404, fermata.CodeNotFound},
		{w.admin, "DELETE /v1/tools/nothing", "", 404, fermata.CodeNotFound},
		{w.admin, "GET /v1/mcp-servers/nothing", "", 404, fermata.CodeNotFound},
	} {
		r := w.call(c.token, c.call, c.body)
		if p := r.problem(t); r.status != c.status || p.Code != c.code || p.Detail == "" {
			t.Errorf("%s %.80s: %d %+v, want %d %s", c.call, c.body, r.status, p, c.status, c.code)
		}
	}
}

func TestRunIsStartedListedAndCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stored := w.put(deploy)
	var run fermata.WorkflowRun
	w.must(http.StatusCreated, w.human, "POST /v1/workflows/deploy/runs", `{"inputs":{"version":"1.4.0"}}`, &run)
	if run.Workflow != "deploy" || run.Hash != stored.Hash || run.Trigger != fermata.TriggerManual || run.StartedBy == nil || run.StartedBy.Name != "ann" {
		t.Errorf("run %+v", run)
	}
	var inputs map[string]any
	if err := json.Unmarshal(run.Inputs, &inputs); err != nil || inputs["version"] != "1.4.0" || inputs["times"] != float64(1) {
		t.Errorf("inputs %s", run.Inputs)
	}
	var got fermata.WorkflowRun
	w.must(http.StatusOK, w.admin, "GET /v1/workflow-runs/"+run.ID[len(run.ID)-8:], "", &got)
	if got.ID != run.ID || got.Graph == nil {
		t.Errorf("by its ending: %+v", got)
	}
	for _, call := range []string{
		"GET /v1/workflows/deploy/runs", "GET /v1/workflow-runs", "GET /v1/workflow-runs?workflow=deploy&trigger=manual&state=open,done",
	} {
		if got := w.runs(call); len(got) != 1 || got[0].ID != run.ID {
			t.Errorf("%s: %+v", call, got)
		}
	}
	for _, call := range []string{"GET /v1/workflow-runs?workflow=other", "GET /v1/workflow-runs?trigger=schedule", "GET /v1/workflow-runs?state=failed", "GET /v1/workflow-runs?project=none"} {
		if got := w.runs(call); len(got) != 0 {
			t.Errorf("%s: %+v", call, got)
		}
	}
	w.must(http.StatusOK, w.admin, "POST /v1/tasks/"+run.ID+"/cancel", `{"reason":"no"}`, nil)
	w.must(http.StatusOK, w.admin, "GET /v1/workflow-runs/"+run.ID, "", &got)
	if got.State != fermata.TaskCancelled || !got.CanRetry {
		t.Errorf("cancelled: %+v", got)
	}
	w.must(http.StatusOK, w.admin, "POST /v1/workflow-runs/"+run.ID+"/retry", "", &got)
	if got.State.IsEnded() {
		t.Errorf("retried: %+v", got)
	}
	r := w.call(w.admin, "POST /v1/workflow-runs/"+run.ID+"/retry", "")
	if p := r.problem(t); p.Code != fermata.CodeIllegalTransition {
		t.Errorf("retried again: %+v", p)
	}
}

func (w *world) runs(call string) []fermata.WorkflowRun {
	w.Helper()
	var list struct{ Items []fermata.WorkflowRun }
	w.must(http.StatusOK, w.admin, call, "", &list)
	return list.Items
}

func TestRunsComeInPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(deploy)
	for i := range 3 {
		w.must(http.StatusCreated, w.admin, "POST /v1/workflows/deploy/runs", fmt.Sprintf(`{"inputs":{"version":"%d"}}`, i), nil)
	}
	var first, second struct {
		Items      []fermata.WorkflowRun
		NextCursor string `json:"next_cursor"`
	}
	w.must(http.StatusOK, w.admin, "GET /v1/workflow-runs?limit=2", "", &first)
	w.must(http.StatusOK, w.admin, "GET /v1/workflow-runs?limit=2&cursor="+first.NextCursor, "", &second)
	if len(first.Items) != 2 || len(second.Items) != 1 || second.NextCursor != "" || second.Items[0].ID >= first.Items[1].ID {
		t.Errorf("%+v\n%+v", first, second)
	}
}

func TestRepeatedStartIsOneRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(deploy)
	var ids []string
	for range 2 {
		r := w.call(w.admin, "POST /v1/workflows/deploy/runs", `{"inputs":{"version":"1"}}`, "Idempotency-Key", "k")
		var run fermata.WorkflowRun
		r.read(t, &run)
		ids = append(ids, run.ID)
	}
	if ids[0] != ids[1] || len(w.runs("GET /v1/workflow-runs")) != 1 {
		t.Errorf("runs %v", ids)
	}
	r := w.call(w.admin, "POST /v1/workflows/deploy/runs", `{"inputs":{"version":"2"}}`, "Idempotency-Key", "k")
	if p := r.problem(t); p.Code != fermata.CodeIdempotencyConflict {
		t.Errorf("another request: %+v", p)
	}
}

func TestRepeatedSecretIsNotShownAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(deploy)
	var first, again struct{ Secret string }
	w.call(w.admin, "POST /v1/workflows/deploy/webhook-secret", "", "Idempotency-Key", "k").read(t, &first)
	w.call(w.admin, "POST /v1/workflows/deploy/webhook-secret", "", "Idempotency-Key", "k").read(t, &again)
	if !strings.HasPrefix(first.Secret, "whsec_") || again.Secret != "" {
		t.Errorf("first %q, again %q", first.Secret, again.Secret)
	}
	// The secret that was shown signs the requests.
	if r := w.hook("deploy", first.Secret, "msg_1", `{"version":"1"}`, time.Now()); r.status != http.StatusAccepted {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// hook calls a webhook with a signed request.
func (w *world) hook(name, secret, id, body string, at time.Time) reply {
	w.Helper()
	signer, err := standardwebhooks.NewWebhook(secret)
	w.OK(err)
	signature, err := signer.Sign(id, at, []byte(body))
	w.OK(err)
	return w.call("", "POST /v1/hooks/workflow/"+name, body, "webhook-id", id, "webhook-timestamp", fmt.Sprint(at.Unix()), "webhook-signature", signature)
}

func TestWebhookStartsOneRunForOneID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(deploy)
	var made struct{ Secret string }
	w.must(http.StatusOK, w.admin, "POST /v1/workflows/deploy/webhook-secret", "", &made)
	var ids []string
	for range 2 {
		r := w.hook("deploy", made.Secret, "msg_1", `{"version":"2.0"}`, time.Now())
		var started struct {
			RunID string `json:"run_id"`
		}
		if r.status != http.StatusAccepted {
			t.Fatalf("%d %s", r.status, r.body)
		}
		r.read(t, &started)
		ids = append(ids, started.RunID)
	}
	runs := w.runs("GET /v1/workflow-runs?trigger=webhook")
	if len(runs) != 1 || ids[0] != runs[0].ID || ids[1] != ids[0] {
		t.Errorf("started %v, there are %+v", ids, runs)
	}
}

// TestStrangersLearnNothingFromWebhooks compares the refusals: they must not reveal whether a workflow exists.
func TestStrangersLearnNothingFromWebhooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(deploy)
	w.put(strings.NewReplacer("name: deploy", "name: inner", "  - webhook: true\n", "").Replace(deploy))
	w.put(strings.Replace(deploy, "name: deploy", "name: off", 1))
	w.must(http.StatusOK, w.admin, "PUT /v1/workflows/off", quoted(map[string]any{"source": strings.Replace(deploy, "name: deploy", "name: off", 1), "enabled": false}), nil)
	var made struct{ Secret string }
	w.must(http.StatusOK, w.admin, "POST /v1/workflows/deploy/webhook-secret", "", &made)
	wrong := "whsec_" + strings.Repeat("A", 43) + "="
	refusals := map[string]reply{
		"unsigned":  w.call("", "POST /v1/hooks/workflow/deploy", `{"version":"1"}`),
		"unknown":   w.hook("nothing", wrong, "m", `{}`, time.Now()),
		"wrong key": w.hook("deploy", wrong, "m", `{}`, time.Now()),
		"old":       w.hook("deploy", made.Secret, "m", `{}`, time.Now().Add(-time.Hour)),
		"no hook":   w.hook("inner", wrong, "m", `{}`, time.Now()),
		"disabled":  w.hook("off", wrong, "m", `{}`, time.Now()),
	}
	for name, r := range refusals {
		if r.status != http.StatusUnauthorized || string(r.body) != string(refusals["unsigned"].body) {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	if runs := w.runs("GET /v1/workflow-runs"); len(runs) != 0 {
		t.Errorf("runs %+v", runs)
	}
	// A caller with a valid signature is told what is wrong.
	r := w.hook("deploy", made.Secret, "m", `{"version":7}`, time.Now())
	if p := r.problem(t); r.status != http.StatusBadRequest || len(p.Problems) == 0 {
		t.Errorf("%d %+v", r.status, p)
	}
	r = w.hook("deploy", made.Secret, "m2", strings.Repeat(" ", fermata.MaxWebhookBody+1), time.Now())
	if p := r.problem(t); r.status != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %+v", r.status, p)
	}
}

// A request that the condition of the trigger does not want is taken, and starts nothing: senders stop to send after
// refusals. A condition that cannot be evaluated is the sender's mistake or the author's, and is told.
func TestConditionOfAWebhook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(strings.Replace(deploy, "  - webhook: true\n", "  - {webhook: true, auth: none, if: \"trigger.body.kind != 'skip'\"}\n", 1))
	for body, want := range map[string]string{
		`{"kind":"skip","version":"1"}`: `{}`,
		`{"kind":"ship","version":"1"}`: `{"run_id":"task_`,
		`{"version":"1"}`:               `"the condition of the trigger: trigger.body.kind: there is no \"kind\"`,
	} {
		status := http.StatusAccepted
		if strings.Contains(want, "the condition") {
			status = http.StatusBadRequest
		}
		r := w.call("", "POST /v1/hooks/workflow/deploy", body)
		if r.status != status || !strings.Contains(string(r.body), want) {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	if runs := w.runs("GET /v1/workflow-runs"); len(runs) != 1 {
		t.Errorf("runs %+v", runs)
	}
}

func TestReadingAWebhookStartsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(deploy)
	before := w.Head()
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE"} {
		if r := w.call("", method+" /v1/hooks/workflow/deploy", ""); r.status != http.StatusMethodNotAllowed || r.header.Get("Allow") != "POST" {
			t.Errorf("%s: %d, allow %q", method, r.status, r.header.Get("Allow"))
		}
	}
	if w.Head() != before {
		t.Error("something changed")
	}
}

func TestToolsAreDefinedTogetherOrNotAtAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.call(w.admin, "POST /v1/tools", `{"items":[{"name":"lint","command":["make","lint"]},{"name":"shell","command":["make"]}]}`)
	if r.status != http.StatusBadRequest || !bytes.Contains(r.body, []byte(`"items[1].name"`)) {
		t.Errorf("%d %s", r.status, r.body)
	}
	w.must(http.StatusNotFound, w.admin, "GET /v1/tools/lint", "", nil)
	var stored struct{ Items []fermata.NamedTool }
	w.must(http.StatusOK, w.admin, "POST /v1/tools",
		`{"items":[{"name":"lint","command":["make","lint"]},{"name":"tracker","server":{"url":"https://t.example.com","headers":{"Authorization":"secret"}}}]}`, &stored)
	if len(stored.Items) != 2 || stored.Items[1].Server.Headers["Authorization"] == "secret" {
		t.Errorf("stored %+v", stored.Items)
	}
	w.must(http.StatusOK, w.admin, "GET /v1/tools/lint", "", nil)
}

func TestToolsAreDefinedAndRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var named fermata.NamedTool
	w.must(http.StatusOK, w.admin, "PUT /v1/tools/run_checks", `{"command":["make","test"],"schema":{"type":"object"},"timeout":"30m"}`, &named)
	if named.Name != "run_checks" || len(named.Command) != 2 || named.UpdatedBy.Kind != fermata.ActorHuman {
		t.Errorf("named %+v", named)
	}
	w.must(http.StatusOK, w.admin, "PUT /v1/mcp-servers/tracker", `{"url":"https://tracker.example.com/mcp","headers":{"Authorization":"env:TRACKER"}}`, &named)
	if named.Server == nil || named.Server.URL == "" {
		t.Errorf("server %+v", named)
	}
	var list struct{ Items []fermata.NamedTool }
	w.must(http.StatusOK, w.admin, "GET /v1/named-tools", "", &list)
	if len(list.Items) != 2 {
		t.Errorf("named tools %+v", list)
	}
	list.Items = nil
	w.must(http.StatusOK, w.admin, "GET /v1/mcp-servers", "", &list)
	if len(list.Items) != 1 || list.Items[0].Name != "tracker" {
		t.Errorf("servers %+v", list)
	}
	w.must(http.StatusNotFound, w.admin, "GET /v1/mcp-servers/run_checks", "", nil)
	w.must(http.StatusNotFound, w.admin, "DELETE /v1/mcp-servers/run_checks", "", nil)
	var all struct{ Items []fermata.ToolInfo }
	w.must(http.StatusOK, w.admin, "GET /v1/tools", "", &all)
	kinds := map[string]string{}
	for _, tool := range all.Items {
		kinds[tool.Name] = tool.Kind
	}
	if kinds["run_checks"] != "command" || kinds["post_question"] != "built_in" || kinds["tracker"] != "server" {
		t.Errorf("tools %v", kinds)
	}
	w.must(http.StatusNoContent, w.admin, "DELETE /v1/tools/run_checks", "", nil)
	w.must(http.StatusNoContent, w.admin, "DELETE /v1/mcp-servers/tracker", "", nil)
	list.Items = nil
	w.must(http.StatusOK, w.admin, "GET /v1/named-tools", "", &list)
	if len(list.Items) != 0 {
		t.Errorf("left %+v", list)
	}
}

func TestSchemaOfWorkflowsIsOpenToEditors(t *testing.T) {
	t.Parallel()
	r := newWorld(t).call("", "GET /schemas/workflow.json", "")
	var schema struct {
		Schema     string `json:"$schema"`
		Properties map[string]any
	}
	r.read(t, &schema)
	if r.header.Get("Content-Type") != "application/schema+json" || schema.Schema == "" || schema.Properties["steps"] == nil {
		t.Errorf("%v %.200s", r.header, r.body)
	}
}

func TestServerWithoutWorkflows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) { c.Workflows = nil })
	for _, call := range []string{"GET /v1/workflows", "GET /v1/workflow-runs", "GET /v1/tools"} {
		if p := w.call(w.admin, call, "").problem(t); p.Code != fermata.CodeNotFound {
			t.Errorf("%s: %+v", call, p)
		}
	}
}

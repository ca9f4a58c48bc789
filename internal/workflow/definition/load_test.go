package definition_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// known describes a server with the tools of the example in the specification.
var known = definition.Catalog{Tools: map[string]tool.Info{
	"analyze_issue": {Name: "analyze_issue", Output: json.RawMessage(`{
		"type": "object", "required": ["confidence"], "additionalProperties": false,
		"properties": {
			"confidence": {"type": "number"}, "uncertainQuestion": {"type": "string"}, "suggestedOptions": {"type": "array"},
			"defaultApproach": {"type": "string"}, "safe": {"type": "boolean"}
		}}`)},
	"apply_code_fix":   {Name: "apply_code_fix"},
	"run_checks":       {Name: "run_checks"},
	"github_create_pr": {Name: "github_create_pr"},
	"update_github_issue": {Name: "update_github_issue", Input: json.RawMessage(`{
		"type": "object", "additionalProperties": false,
		"properties": {"addLabels": {"type": "array", "items": {"type": "string"}}, "addComment": {"type": "string"}}}`)},
	"http":   {Name: "http", Input: json.RawMessage(`{"type": "object", "additionalProperties": false, "required": ["url"], "properties": {"url": {"type": "string"}, "headers": {"type": "object"}, "retries": {"type": "integer"}}}`)},
	"notify": {Name: "notify"},
}, UnlistedServers: []string{"tracker"}, DelegatedTools: []string{"analyze_issue", "apply_code_fix", "run_checks"}}

func autofix(tb testing.TB) []byte {
	tb.Helper()
	source, err := os.ReadFile("testdata/autofix.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	return source
}

// load returns the workflow of a source. It fails the test if the source has
// errors; warnings are allowed.
func load(tb testing.TB, source string) *definition.Workflow {
	tb.Helper()
	w, problems := definition.Load([]byte(source), known)
	if w == nil {
		tb.Fatalf("refused: %v", problems)
	}
	return w
}

func TestTheExampleOfTheContract(t *testing.T) {
	t.Parallel()
	w, problems := definition.Load(autofix(t), known)
	if w == nil {
		t.Fatalf("refused: %v", problems)
	}
	for _, p := range problems {
		if !p.Warning {
			t.Error(p)
		}
	}
	if w.Name != "autofix" || len(w.Triggers) != 4 || len(w.Steps) != 5 || w.MaxIterations != 5 {
		t.Errorf("%+v", w)
	}
	types := []string{}
	for _, tr := range w.Triggers {
		types = append(types, tr.Type)
	}
	if diff := cmp.Diff([]string{"label_added", "schedule", "webhook", "manual"}, types); diff != "" {
		t.Error(diff)
	}
	if tr := w.Triggers[1]; tr.Cron != "0 */6 * * *" || tr.Timezone != "UTC" || tr.Catchup != "latest" || tr.CatchupAge != 24*time.Hour || w.Triggers[2].Auth != "signature" {
		t.Errorf("%+v", w.Triggers)
	}
	if in := w.Inputs; len(in) != 1 || in[0].Name != "issue" || in[0].Type != "number" || !in[0].Required {
		t.Errorf("%+v", in)
	}
	analysis := map[string]any{
		"confidence": 72.5, "uncertainQuestion": "Which way?", "suggestedOptions": []any{"a", "b"}, "defaultApproach": "a",
	}
	env := definition.Env{"analysis": analysis}
	ask := w.Step("check_confidence")
	if yes, err := ask.Condition.Bool(env); err != nil || !yes {
		t.Errorf("the condition is %v, %v", yes, err)
	}
	input, err := ask.Input.Render(env)
	want := map[string]any{
		"question": "Which way?", "options": []any{"a", "b"}, "notifyVia": []any{"github", "slack"},
		"timeoutHours": int64(24), "timeoutAction": "skip",
	}
	if diff := cmp.Diff(want, input); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	for answer, approach := range map[any]string{nil: "a", "b": "b"} {
		env["answer"] = answer
		input, err := w.Step("apply_fix").Input.Render(env)
		if diff := cmp.Diff(map[string]any{"approach": approach}, input); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	}
	resume := w.Resume(ask)
	injected, err := resume.Inject[0].Value.Render(definition.Env{"pendingQuestion": map[string]any{"answer": "b"}})
	if resume.Goto != "apply_fix" || resume.Inject[0].Name != "answer" || injected != "b" || err != nil {
		t.Errorf("%+v %v %v", resume, injected, err)
	}
	if a := w.Timeout(ask); a.Tool != "update_github_issue" || a.Goto != "" {
		t.Errorf("%+v", a)
	}
}

func TestTheOtherDefault(t *testing.T) {
	t.Parallel()
	source := strings.Replace(string(autofix(t)), "answer ?? analysis", "answer || analysis", 1)
	w := load(t, source)
	input, err := w.Step("apply_fix").Input.Render(definition.Env{"analysis": map[string]any{"defaultApproach": "a"}})
	if diff := cmp.Diff(map[string]any{"approach": "a"}, input); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestEveryField(t *testing.T) {
	t.Parallel()
	w := load(t, `
name: everything
description: All there is.
project: web
triggers:
  - label_added: fix
    repo: acme/shop
    if: trigger.actor != "bot"
    inputs: {issue: "{{ trigger.issue }}"}
  - schedule: "30 2 * * *"
    timezone: America/New_York
    catchup: all
    catchup_age: 3d
    inputs: {issue: 7}
  - webhook: true
    auth: none
  - event: question.answered
inputs:
  issue: {type: number, required: true}
  mode: {type: string, default: fast, enum: [fast, slow], description: How.}
concurrency: {key: "issue-{{ inputs.issue }}", policy: queue}
confidence: {auto: 90, ask: 40}
max_iterations: 3
steps:
  - id: list
    tool: http
    input: {url: "https://example.com/{{ inputs.issue }}", headers: {Authorization: "Bearer {{ secrets.TOKEN }}"}}
    output: found
    schema: {type: object, properties: {items: {type: array}}}
    timeout: 90s
    retry: {attempts: 3, backoff: 1s, max_backoff: 1m, factor: 3}
    on_error: ask
  - id: each
    tool: shell
    foreach: "{{ found.items }}"
    parallel: 4
    input: {command: [make, "{{ item.name }}", "{{ index }}"]}
    on_error: continue
  - id: ask
    tool: post_question
    condition: "{{ len(steps.each.output) > 0 }}"
    input:
      question: |
        Which one?
        {{ found.items }}
      options: [again, {value: go, danger: true}]
      timeout: 3d
      timeoutAction: skip
    suspend: true
    confidence: {auto: 95}
    on_resume:
      inject: {picked: "{{ pendingQuestion.option }}", by: "{{ pendingQuestion.by }}"}
      goto: {again: list}
    on_timeout: {goto: ok}
  - id: ok
    tool: request_approval
    input: {question: "Deploy {{ picked ?? 'it' }}?"}
    on_reject: {goto: last}
  - id: last
    tool: notify
    input: {text: "{{ steps.ok.status }}"}
`)
	if diff := cmp.Diff([]string{"TOKEN"}, w.Secrets); diff != "" {
		t.Error(diff)
	}
	r := w.Steps[0].Retry
	if r.Delay(1) != time.Second || r.Delay(2) != 3*time.Second || r.Delay(9) != time.Minute {
		t.Errorf("delays %v %v %v", r.Delay(1), r.Delay(2), r.Delay(9))
	}
	if s := w.Steps[1]; s.Foreach == nil || s.Parallel != 4 || s.OnError != "continue" {
		t.Errorf("%+v", s)
	}
	if s := w.Steps[2]; s.OnResume.GotoBy["again"] != "list" || *s.Confidence.Auto != 95 || s.Confidence.Ask != nil {
		t.Errorf("%+v", s)
	}
	if s := w.Steps[3]; !s.Suspend || s.OnRejectGoto != "last" {
		t.Errorf("%+v", s)
	}
	if tr := w.Triggers[1]; tr.CatchupAge != 72*time.Hour || tr.Schedule() == nil {
		t.Errorf("%+v", tr)
	}
	if yes, err := w.Triggers[0].If.Bool(definition.Env{"trigger": map[string]any{"actor": "ann"}}); err != nil || !yes {
		t.Errorf("%v %v", yes, err)
	}
}

func TestWithoutAServer(t *testing.T) {
	t.Parallel()
	w, problems := definition.Load(autofix(t), definition.Catalog{AllowUnknownTools: true, Tools: map[string]tool.Info{"github_create_pr": {}, "update_github_issue": {}}})
	if w == nil {
		t.Fatal(problems)
	}
	var said []string
	for _, p := range problems {
		if strings.Contains(p.Message, "tool") {
			said = append(said, p.Message)
		}
	}
	want := []string{"the tool analyze_issue is not known here", "the tool apply_code_fix is not known here", "the tool run_checks is not known here"}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
}

func TestHash(t *testing.T) {
	t.Parallel()
	a, b := autofix(t), autofix(t)
	if definition.Hash(a) != definition.Hash(b) || len(definition.Hash(a)) != 64 {
		t.Error("the same bytes have another hash")
	}
	if definition.Hash(a) == definition.Hash(append(b, '\n')) {
		t.Error("other bytes have the same hash")
	}
}

// Expressions can read the fields of a step before it ran.
func TestBlank(t *testing.T) {
	t.Parallel()
	w := load(t, start+"  - id: b\n    tool: run_checks\n    condition: steps.a.status == 'pending' && steps.a.output == null && done == null\n    input: {e: \"{{ steps.a.error?.code }}\", n: \"{{ steps.a.answer }}\"}\n")
	if yes, err := w.Steps[1].Condition.Bool(w.InitialEnv()); err != nil || !yes {
		t.Errorf("%v %v", yes, err)
	}
	input, err := w.Steps[1].Input.Render(w.InitialEnv())
	if diff := cmp.Diff(map[string]any{"e": nil, "n": nil}, input); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

// A file with many warnings keeps the values of all its steps. Without a server, every step with another tool is a warning.
func TestWarningsDoNotHideTheRestOfTheFile(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	source.WriteString("name: x\ntriggers: []\nsteps:\n")
	for i := range 150 {
		fmt.Fprintf(&source, "  - {id: s%d, tool: other, input: {a: \"{{ run.id }}\"}}\n", i)
	}
	w, problems := definition.Load([]byte(source.String()), definition.Catalog{AllowUnknownTools: true})
	if w == nil {
		t.Fatal(problems)
	}
	input, err := w.Steps[149].Input.Render(definition.Env{"run": map[string]any{"id": "r1"}})
	if diff := cmp.Diff(map[string]any{"a": "r1"}, input); err != nil || diff != "" {
		t.Errorf("the last step reads another value: %v %s", err, diff)
	}
	_, problems = definition.Load([]byte(source.String()+"  - {id: s, tool: other, condition: nope}\n"), definition.Catalog{AllowUnknownTools: true})
	if !slices.ContainsFunc(problems, func(p definition.Problem) bool { return !p.Warning && p.Message == "nope is not known" }) {
		t.Errorf("the error after the warnings is not reported: %d problems", len(problems))
	}
}

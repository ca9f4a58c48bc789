package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/github"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/internal/tool"
	toolgithub "github.com/fermata-hq/fermata/internal/tool/github"
	toolhttp "github.com/fermata-hq/fermata/internal/tool/http"
	"github.com/fermata-hq/fermata/internal/workflow"
	"github.com/fermata-hq/fermata/test/patience"
)

// goodInputs holds an input that each built-in tool takes.
var goodInputs = map[string]map[string]any{
	"agent":                {"prompt": "Look."},
	"shell":                {"command": []any{"make"}},
	"wait":                 {"for": "5m"},
	"workflow":             {"name": "other"},
	"http":                 {"url": "http://127.0.0.1:1/x"},
	"notify":               {"title": "Done.", "channels": []any{"team"}},
	"github_read_issue":    {},
	"github_list_issues":   {},
	"github_search":        {"query": "is:open"},
	"github_comment":       {"body": "Done."},
	"github_add_labels":    {"labels": []any{"bug"}},
	"github_remove_labels": {"labels": []any{"bug"}},
	"github_assign":        {"assignees": []any{"ada"}},
	"update_github_issue":  {"addLabels": []any{"bug"}},
	"github_create_branch": {"name": "fix"},
	"github_create_pr":     {},
	"github_review":        {"body": "Good."},
	"github_checks":        {"ref": "main"},
	"github_deployment":    {"state": "waiting", "run": 5, "environment": "production"},
}

// otherForms names the field that a tool takes instead of another one.
var otherForms = map[string]string{"wait until": "for"}

// badValues are values of which a field of a tool takes only some.
var badValues = []any{
	nil, true, 3, -1.5, "", " ", "no such value", "ftp://x", "2026-11-22", "a/b/c", []any{}, []any{1}, []any{map[string]any{}}, []any{""},
	map[string]any{"a": 1}, map[string]any{"Host": "x"}, map[string]any{"a b": []any{1}},
}

// A test refuses the rendered input of a step if a server does, with the same code and the same words. The inputs hold
// each bad value in each field of each built-in tool.
func TestATestChecksInputsAsAServerDoes(t *testing.T) {
	t.Parallel()
	tools, err := newToolServer(t).Tools(t.Context(), testkit.Admin)
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range tools {
		if info.Name == "post_question" || info.Name == "request_approval" {
			continue // internal/workflow tests questions: what one may hold depends on all of its fields
		}
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel()
			good, isKnown := goodInputs[info.Name]
			if !isKnown {
				t.Fatalf("goodInputs has no input for %s", info.Name)
			}
			inputs := append([]map[string]any{good}, spoil(t, info, good)...)
			source, given := oneStepEach(info.Name, inputs)
			s := newToolServer(t)
			onServer := runOnServer(t, s, source, given)
			simulate := func(source, script string) (*fermata.TestReport, error) {
				return workflow.Simulate(t.Context(), []byte(source), []byte(script), WorkflowTools())
			}
			if info.Name == "workflow" { // only a server knows the inputs of the other workflow
				simulate = func(source, script string) (*fermata.TestReport, error) {
					return s.Simulate(t.Context(), testkit.Admin, workflow.Trial{Source: source, Script: script})
				}
			}
			inTest := runInTest(t, simulate, source, given)
			for i, input := range inputs {
				id := fmt.Sprintf("s%d", i)
				want, got := refusalOf(onServer[id]), refusalOf(inTest[id])
				if want != got {
					t.Errorf("%v:\nserver: %s\ntest:   %s", input, want, got)
				}
				if i == 0 && want != "" {
					t.Errorf("the server refuses the good input: %s", want)
				}
			}
		})
	}
}

// spoil returns copies of an input with one fault each. Some of the faults may be none.
func spoil(t *testing.T, info fermata.ToolInfo, good map[string]any) []map[string]any {
	t.Helper()
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(info.Input, &schema); err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	for _, field := range slices.Sorted(maps.Keys(schema.Properties)) {
		if info.Name == "shell" && field == "run" {
			continue // a script has no templates
		}
		for _, value := range badValues {
			input := maps.Clone(good)
			delete(input, otherForms[info.Name+" "+field])
			input[field] = value
			all = append(all, input)
		}
	}
	return all
}

// oneStepEach returns a definition with a step for each input, side by side, and the inputs of its run. Every value is
// a template, so that nobody knows it before the run.
func oneStepEach(name string, inputs []map[string]any) (source string, given map[string]any) {
	type step struct {
		ID      string         `json:"id"`
		Tool    string         `json:"tool"`
		Needs   []string       `json:"needs"`
		OnError string         `json:"on_error"`
		Retry   map[string]int `json:"retry"`
		Input   map[string]any `json:"input"`
	}
	keys, values, steps := map[string]string{}, map[string]any{}, []step{}
	for i, input := range inputs {
		fields := map[string]any{}
		for field, value := range input {
			text := fmt.Sprintf("%#v", value)
			if keys[text] == "" {
				keys[text] = fmt.Sprintf("v%d", len(keys))
				values[keys[text]] = value
			}
			fields[field] = fmt.Sprintf("{{ inputs.values.%s }}", keys[text])
		}
		steps = append(steps, step{fmt.Sprintf("s%d", i), name, []string{}, "continue", map[string]int{"attempts": 1}, fields})
	}
	doc, err := json.Marshal(map[string]any{
		"name": "inputs", "triggers": []any{map[string]any{"manual": true}}, "steps": steps, "on_failure": "none",
		"inputs": map[string]any{"values": map[string]any{"type": "object", "required": true}, "issue": map[string]any{"type": "number", "default": 7}},
	})
	if err != nil {
		panic(err) // the values above can always be encoded
	}
	return string(doc), map[string]any{"values": values}
}

// refusalOf returns the code and the message with which the input of a step was refused, or "". It leaves out refusals for
// what the server has, or what started the run.
func refusalOf(step *fermata.WorkflowStep) string {
	if step == nil || step.Error == nil || step.Error.Code != "input_error" && step.Error.Code != string(fermata.CodeInvalidRequest) {
		return ""
	}
	for _, text := range []string{"it is not said which", "there is no workflow"} {
		if strings.Contains(step.Error.Message, text) {
			return ""
		}
	}
	return step.Error.Code + " " + step.Error.Message + " | " + step.Error.Hint
}

func byStep(run *fermata.WorkflowRun) map[string]*fermata.WorkflowStep {
	steps := map[string]*fermata.WorkflowStep{}
	for _, s := range run.Steps {
		steps[s.Step] = s
	}
	return steps
}

func runInTest(t *testing.T, simulate func(source, script string) (*fermata.TestReport, error), source string, given map[string]any) map[string]*fermata.WorkflowStep {
	t.Helper()
	script, err := json.Marshal(map[string]any{"inputs": given, "tools": map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	report, err := simulate(source, string(script))
	if err != nil {
		t.Fatal(err)
	}
	if report.Run == nil {
		t.Fatalf("%+v", report.Problems)
	}
	return byStep(report.Run)
}

// runOnServer runs a definition on a server that reaches nobody, until each step has ended or waits.
func runOnServer(t *testing.T, s *workflow.Service, source string, given map[string]any) map[string]*fermata.WorkflowStep {
	t.Helper()
	for _, definition := range []string{"name: other\ntriggers: []\nsteps: [{id: a, tool: wait, input: {for: 1h}}]\n", source} {
		if _, err := s.Put(t.Context(), testkit.Admin, "", workflow.Definition{Source: definition}); err != nil {
			t.Fatal(err)
		}
	}
	started, err := s.Start(t.Context(), testkit.Admin, "inputs", given)
	if err != nil {
		t.Fatal(err)
	}
	count := strings.Count(source, `"id":`)
	var steps map[string]*fermata.WorkflowStep
	patience.Await(t, "the end of all steps", func() bool {
		run, err := s.RunDetails(t.Context(), testkit.Admin, started.ID)
		if err != nil {
			t.Fatal(err)
		}
		steps = byStep(run)
		isRunning := func(step *fermata.WorkflowStep) bool { return step.State == fermata.StepRunning }
		return len(run.Steps) == count && !slices.ContainsFunc(run.Steps, isRunning)
	})
	return steps
}

// newToolServer returns the workflows of a server that reaches nobody.
func newToolServer(t *testing.T) *workflow.Service {
	t.Helper()
	w := testkit.New(t, storetest.SQLite(t))
	s := workflow.New(workflow.Options{DB: w.DB, Engine: w.Engine, Tools: unreachableTools(w.DB, w.Engine)})
	w.OK(w.Engine.Start(t.Context()))
	testkit.Run(t, w.Engine.RunTail, w.Engine.RunSweeps, s.Run)
	return s
}

// unreachableTools returns the tools of a server without a network and without channels.
func unreachableTools(db *store.DB, e *engine.Engine) []tool.Tool {
	offline := &http.Client{Transport: offlineTransport{}}
	return workflowTools(notifyTool{delivery.New(delivery.Options{DB: db, Engine: e})}, toolhttp.New(offline), toolgithub.Options{
		HTTP: offline,
		Settings: func(context.Context, string) (github.Settings, error) {
			return github.ReadSettings(json.RawMessage(`{"token": "t0ken", "repository": "acme/shop"}`))
		},
	})
}

// offlineTransport reaches no server.
type offlineTransport struct{}

func (offlineTransport) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Err: errors.New("no network")}
}

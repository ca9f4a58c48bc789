package definition_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

func TestGraph(t *testing.T) {
	t.Parallel()
	got := load(t, string(autofix(t))).Graph()
	want := definition.Graph{
		Nodes: []definition.Node{
			{ID: "start", Label: "start", Kind: "start"},
			{ID: "analyze", Label: "analyze", Kind: "step", Tool: "analyze_issue"},
			{ID: "check_confidence", Label: "check_confidence", Kind: "question", Tool: "post_question", Condition: "analysis.confidence < 80"},
			{ID: "check_confidence.on_timeout", Label: "update_github_issue", Kind: "timeout", Tool: "update_github_issue"},
			{ID: "apply_fix", Label: "apply_fix", Kind: "step", Tool: "apply_code_fix"},
			{ID: "run_checks", Label: "run_checks", Kind: "step", Tool: "run_checks"},
			{ID: "create_pr", Label: "create_pr", Kind: "step", Tool: "github_create_pr"},
			{ID: "end", Label: "end", Kind: "end"},
		},
		Edges: []definition.Edge{
			{From: "start", To: "analyze"},
			{From: "analyze", To: "check_confidence"},
			{From: "check_confidence", To: "apply_fix", Label: "skipped"},
			{From: "check_confidence", To: "apply_fix", Label: "answered"},
			{From: "check_confidence", To: "check_confidence.on_timeout", Label: "timed out"},
			{From: "check_confidence.on_timeout", To: "end"},
			{From: "apply_fix", To: "run_checks"},
			{From: "run_checks", To: "create_pr"},
			{From: "create_pr", To: "end"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestGraphOfAnApproval(t *testing.T) {
	t.Parallel()
	got := load(t, `
name: x
steps:
  - id: plan
    tool: shell
    input: {run: make plan}
  - id: ask
    tool: request_approval
    input: {question: Deploy?, timeoutAction: fail}
    on_reject: {goto: plan}
    on_error: ask
  - id: pick
    tool: post_question
    suspend: true
    input: {question: Where?, options: [a, b, c], timeoutAction: default, defaultAnswer: c}
    on_resume: {goto: {a: plan, b: last}}
  - id: last
    tool: run_checks
    condition: steps.pick.answer != null
`).Graph()
	want := []definition.Edge{
		{From: "start", To: "plan"},
		{From: "plan", To: "ask"},
		{From: "ask", To: "pick", Label: "approved"},
		{From: "ask", To: "plan", Label: "rejected", Back: true},
		{From: "ask", To: "end", Label: "timed out"},
		{From: "pick", To: "plan", Label: "a", Back: true},
		{From: "pick", To: "last", Label: "b"},
		{From: "pick", To: "last", Label: "answered"},
		{From: "last", To: "end"},
	}
	if diff := cmp.Diff(want, got.Edges); diff != "" {
		t.Error(diff)
	}
	if got.Nodes[1].Kind != definition.NodeChild || got.Nodes[2].Kind != definition.NodeQuestion {
		t.Errorf("%+v", got.Nodes)
	}
}

// The phases after the main steps are separate. A run enters one of them depending on how the main steps ended.
func TestGraphOfWhatIsDoneAtTheEnd(t *testing.T) {
	t.Parallel()
	got := load(t, `
name: x
steps:
  - {id: plan, tool: shell, input: {run: make plan}}
  - {id: ask, tool: request_approval, input: {question: Deploy?, timeoutAction: fail}}
on_success: [{id: cheer, tool: shell, input: {run: make noise}}]
on_failure:
  - {id: tell, tool: post_question, suspend: true, input: {question: What now?, timeoutAction: skip}, on_timeout: {tool: notify, input: {text: x}}}
finally: [{id: unlock, tool: shell, input: {run: make unlock}}]
`).Graph()
	want := []definition.Edge{
		{From: "start", To: "plan"},
		{From: "plan", To: "ask"},
		{From: "ask", To: "cheer", Label: "approved"},
		{From: "ask", To: "tell", Label: "rejected"},
		{From: "ask", To: "tell", Label: "timed out"},
		{From: "cheer", To: "unlock"},
		{From: "tell", To: "unlock", Label: "answered"},
		{From: "tell", To: "tell.on_timeout", Label: "timed out"},
		{From: "tell.on_timeout", To: "unlock"},
		{From: "unlock", To: "end"},
	}
	if diff := cmp.Diff(want, got.Edges); diff != "" {
		t.Error(diff)
	}
	phases := map[string]string{}
	for _, n := range got.Nodes {
		phases[n.ID] = n.Phase
	}
	if diff := cmp.Diff(map[string]string{
		"start": "", "plan": "", "ask": "", "cheer": "on_success", "tell": "on_failure", "tell.on_timeout": "on_failure", "unlock": "finally", "end": "",
	}, phases); diff != "" {
		t.Error(diff)
	}
}

// Parallel steps are branches of the graph, which join again.
func TestGraphOfBranches(t *testing.T) {
	t.Parallel()
	got := load(t, `
name: x
steps:
  - {id: plan, tool: shell, input: {run: make plan}}
  - {id: left, tool: shell, input: {run: make left}}
  - {id: ask, tool: post_question, suspend: true, needs: [plan], input: {question: Go?, timeoutAction: skip}, on_timeout: {tool: notify, input: {text: x}, goto: both}}
  - {id: both, tool: shell, needs: [left, ask], input: {run: make both}}
  - {id: apart, tool: shell, needs: [], input: {run: make apart}}
finally:
  - {id: tidy, tool: shell, input: {run: make tidy}}
  - {id: tell, tool: shell, needs: [], input: {run: make tell}}
`).Graph()
	want := []definition.Edge{
		{From: "start", To: "plan"},
		{From: "start", To: "apart"},
		{From: "plan", To: "left"},
		{From: "plan", To: "ask"},
		{From: "left", To: "both"},
		{From: "ask", To: "both", Label: "answered"},
		{From: "ask", To: "ask.on_timeout", Label: "timed out"},
		{From: "ask.on_timeout", To: "both"},
		{From: "both", To: "tidy"},
		{From: "both", To: "tell"},
		{From: "apart", To: "tidy"},
		{From: "apart", To: "tell"},
		{From: "tidy", To: "end"},
		{From: "tell", To: "end"},
	}
	if diff := cmp.Diff(want, got.Edges); diff != "" {
		t.Error(diff)
	}
}

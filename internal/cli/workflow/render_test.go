package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/drawing"
	"github.com/fermata-hq/fermata/internal/cli/render/rendertest"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/notice"
)

// reviewGraph returns a graph with every kind of edge that can leave a step.
func reviewGraph() *fermata.WorkflowGraph {
	return &fermata.WorkflowGraph{
		Nodes: []fermata.GraphNode{
			{ID: "start", Kind: "start"},
			{ID: "draft", Kind: "step", Tool: "write_notes"},
			{ID: "review", Kind: "question", Tool: "request_approval", Condition: "inputs.version != ''"},
			{ID: "review.timeout", Kind: "timeout", Tool: "notify"},
			{ID: "publish", Kind: "child", Tool: "workflow"},
			{ID: "announce", Kind: "step", Tool: "notify", Phase: "on_success"},
			{ID: "tell", Kind: "step", Tool: "github_comment", Phase: "on_failure"},
			{ID: "unlock", Kind: "step", Tool: "http", Phase: "finally"},
			{ID: "end", Kind: "end"},
		},
		Edges: []fermata.GraphEdge{
			{From: "start", To: "draft"},
			{From: "draft", To: "review", Label: "next"},
			{From: "review", To: "publish", Label: "skipped"},
			{From: "review", To: "publish", Label: "answered"},
			{From: "review", To: "draft", Label: "rejected", Back: true},
			{From: "review", To: "review.timeout", Label: "timed out"},
			{From: "review.timeout", To: "tell"},
			{From: "publish", To: "announce"},
			{From: "announce", To: "unlock"},
			{From: "tell", To: "unlock"},
			{From: "unlock", To: "end"},
		},
	}
}

func TestGraph(t *testing.T) {
	t.Parallel()
	rendertest.Golden(t, "workflow_graph.txt", strings.Join(drawGraph(reviewGraph(), drawing.Symbols), "\n")+"\n")
	plain := strings.Join(drawGraph(reviewGraph(), drawing.Letters), "\n") + "\n"
	rendertest.Golden(t, "workflow_graph_plain.txt", plain)
	if strings.ContainsFunc(plain, func(r rune) bool { return r > '~' }) {
		t.Error("plain letters are not plain")
	}
	rendertest.Golden(t, "workflow_graph.mmd", mermaid(reviewGraph())+"\n")
}

func TestGraphFitsTheTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := session.New(strings.NewReader(""), &out, &out, "")
	s.OutTerm, s.Color, s.Width = true, false, 80
	g := reviewGraph()
	g.Nodes[2].Condition = strings.Repeat("inputs.version == 'x' || ", 20)
	printGraph(s, g, drawing.Symbols, "  ")
	for line := range strings.Lines(out.String()) {
		if w := ansi.StringWidth(strings.TrimRight(line, "\n")); w > 80 {
			t.Errorf("%d wide: %q", w, line)
		}
	}
	if !strings.Contains(out.String(), "…") {
		t.Error("what was cut does not say so")
	}
}

// TestMermaidKeepsTextInItsPlace checks that characters which would end a label or be drawn as markup are escaped.
func TestMermaidKeepsTextInItsPlace(t *testing.T) {
	t.Parallel()
	g := &fermata.WorkflowGraph{Nodes: []fermata.GraphNode{{ID: `a"]; n9["b`, Kind: "step", Condition: "x < 1 | `y`\nclick n0"}}}
	out := mermaid(g)
	if lines := strings.Split(out, "\n"); len(lines) != 2 {
		t.Errorf("%d lines: %s", len(lines), out)
	}
	label := strings.TrimSuffix(strings.TrimPrefix(strings.Split(out, "\n")[1], `    n0["`), `"]`)
	if strings.ContainsAny(strings.ReplaceAll(label, "<br/>", ""), "\"<>|`") {
		t.Errorf("label %s", label)
	}
}

// waitingRun returns a run that waits for its question, after a step of each kind.
func waitingRun() *fermata.WorkflowRun {
	at := func(ago time.Duration) *time.Time {
		i := rendertest.Noon.Add(-ago)
		return &i
	}
	item := 1
	return &fermata.WorkflowRun{
		ID: "task_01k5h2m9n0abcdefghjk", Workflow: "release", Hash: "0123456789abcdef", Title: "release for #42", State: fermata.TaskAwaitingApproval,
		Trigger: fermata.TriggerLabel, CreatedAt: *at(time.Hour), Graph: reviewGraph(),
		PendingQuestion: &fermata.Question{ID: "q_01k5h2m9n0abcd3f9k2a", Title: "Publish 1.4.0?", Type: fermata.Approval, Assignees: []string{"group:release"}, Deadline: at(-time.Hour)},
		Steps: []*fermata.WorkflowStep{
			{Step: "fetch", Occurrence: 1, Tool: "http", State: fermata.StepFailed, Attempt: 3, StartedAt: *at(time.Hour), EndedAt: at(59 * time.Minute),
				Error: &fermata.StepError{Code: "http_status", Message: "the server replied 503", Hint: "try later"}},
			{Step: "draft", Occurrence: 2, Tool: "write_notes", State: fermata.StepDone, Attempt: 1, StartedAt: *at(50 * time.Minute), EndedAt: at(40 * time.Minute),
				Output: json.RawMessage(`{"notes":"` + strings.Repeat("long ", 40) + `"}`)},
			{Step: "draft", Occurrence: 2, Item: &item, Tool: "write_notes", State: fermata.StepRunning, Attempt: 1, StartedAt: *at(time.Minute)},
			{Step: "name", Occurrence: 1, Tool: "post_question", State: fermata.StepDone, Attempt: 1, StartedAt: *at(30 * time.Minute), EndedAt: at(20 * time.Minute),
				QuestionID: "q_1", Note: "taken by itself: confidence 90", Output: json.RawMessage(`{"answer":"Aria","by":"anna","source":"auto"}`)},
			{Step: "review", Occurrence: 1, Tool: "request_approval", State: fermata.StepWaiting, Attempt: 1, StartedAt: *at(time.Minute), QuestionID: "q_01k5h2m9n0abcd3f9k2a", Until: at(-time.Hour)},
		},
	}
}

func TestRunOfWorkflow(t *testing.T) {
	t.Parallel()
	s := session.New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, "")
	s.Now = rendertest.NoonClock
	draw := func(m drawing.Marks, run *fermata.WorkflowRun) string {
		return strings.Join(drawing.Lines(s, &runView{s: s, marks: m, run: run}), "\n") + "\n"
	}
	rendertest.Golden(t, "workflow_run.txt", draw(drawing.Symbols, waitingRun()))
	rendertest.Golden(t, "workflow_run_plain.txt", draw(drawing.Letters, waitingRun()))
	ended := waitingRun()
	ended.State, ended.Reason, ended.Summary, ended.CanRetry = fermata.TaskFailed, fermata.ReasonStepFailed, "fetch failed: the server replied 503", true
	if out := draw(drawing.Symbols, ended); strings.Contains(out, "not yet") || !strings.Contains(out, "  │ fetch failed") || !strings.Contains(out, "workflow retry ") {
		t.Errorf("ended:\n%s", out)
	}
}

// TestForgingInWorkflows puts every text of the corpus into the places of definitions and runs that hold text of other
// authors. No character may hide, and no text may add a line.
func TestForgingInWorkflows(t *testing.T) {
	t.Parallel()
	for _, f := range rendertest.Forgeries(t) {
		if len(f.Text) > rendertest.HugeText {
			continue
		}
		var out bytes.Buffer
		s := session.New(strings.NewReader(""), &out, &out, "")
		s.Now, s.OutTerm, s.ErrTerm, s.Color, s.Width = rendertest.NoonClock, true, true, false, 80
		run := waitingRun()
		run.Title, run.Workflow, run.Reason, run.Summary, run.State = f.Text, f.Text, f.Text, f.Text, fermata.TaskFailed
		run.StartedBy = &fermata.Actor{Name: f.Text}
		run.Steps[0].Note, run.Steps[0].Tool, run.Steps[0].Error = f.Text, f.Text, &fermata.StepError{Code: f.Text, Message: f.Text, Hint: f.Text}
		run.Steps[1].Output, _ = json.Marshal(f.Text)
		run.Steps[3].Output, _ = json.Marshal(map[string]string{"answer": f.Text, "by": f.Text})
		run.PendingQuestion.Title = f.Text
		lines := drawing.Lines(s, &runView{s: s, marks: drawing.Symbols, run: run})
		for _, line := range lines {
			s.Stdout().Line("%s", line)
		}
		if drawn := strings.Count(out.String(), "\n"); drawn != len(lines) {
			t.Errorf("%s/%s: %d lines became %d", f.Class, f.Name, len(lines), drawn)
		}
		g := reviewGraph()
		g.Nodes[1].ID, g.Nodes[1].Tool, g.Nodes[2].Condition, g.Edges[3].Label = f.Text, f.Text, f.Text, f.Text
		showWorkflow(s, &fermata.Workflow{
			Name: f.Text, Description: f.Text, Project: f.Text, Hash: "01234567", UpdatedBy: fermata.Actor{Name: f.Text}, Graph: g,
			Triggers: []fermata.WorkflowTrigger{{Type: "webhook", URL: f.Text}, {Type: "label_added", Text: f.Text}},
			Inputs:   []fermata.WorkflowInput{{Name: f.Text, Type: "string", Description: f.Text, Default: f.Text, Enum: []any{f.Text}}},
			Warnings: []fermata.DefinitionProblem{{Line: 1, Column: 1, Message: f.Text, Hint: f.Text, Excerpt: f.Text}},
		}, drawing.Symbols)
		showTool(s, fermata.ToolInfo{Name: f.Text, Kind: f.Text, Description: f.Text, Error: f.Text})
		out.WriteString(mermaid(g))
		if i := strings.IndexFunc(out.String(), notice.IsHidden); i >= 0 {
			t.Errorf("%s/%s: a hidden character came through: %q", f.Class, f.Name, out.String()[max(0, i-60):i+20])
		}
	}
}

func TestInputsAreReadByType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ typ, text, want string }{
		{"string", "42", `"42"`}, {"string", "", `""`}, {"number", "42", "42"}, {"number", " 0.5\n", "0.5"}, {"number", "1e3", "1e3"},
		{"number", "1234567890123456789", "1234567890123456789"},
		{"boolean", "yes", "true"}, {"boolean", "false", "false"}, {"array", "[1]", "[1]"}, {"object", `{"a":1}`, `{"a":1}`},
		{"array", "[1234567890123456789]", "[1234567890123456789]"}, {"object", `{"a":1,"a":2}`, ""},
		{"number", "x", ""}, {"number", "", ""}, {"number", "0x10", ""}, {"number", "Inf", ""}, {"number", "NaN", ""}, {"number", "1_000", ""},
		{"boolean", "maybe", ""}, {"array", "{}", ""}, {"object", "[]", ""}, {"object", "null", ""}, {"object", "{", ""},
	} {
		v, err := inputValue(fermata.WorkflowInput{Name: "n", Type: c.typ}, c.text)
		got, _ := json.Marshal(v)
		switch {
		case c.want == "" && err == nil:
			t.Errorf("%s %q: taken as %s", c.typ, c.text, got)
		case c.want != "" && (err != nil || string(got) != c.want):
			t.Errorf("%s %q: got %s, %v, want %s", c.typ, c.text, got, err, c.want)
		case c.want == "" && (fermata.CodeOf(err) != fermata.CodeInvalidRequest || !strings.Contains(err.Error(), "--input n")):
			t.Errorf("%s %q: %v", c.typ, c.text, err)
		}
	}
}

// All mistakes of the inputs are reported at once, with the place at which a list or an object is not valid JSON.
func TestAllMistakesOfTheInputsAreTold(t *testing.T) {
	t.Parallel()
	w := &fermata.Workflow{Name: "deploy", Inputs: []fermata.WorkflowInput{
		{Name: "list", Type: "array"}, {Name: "more", Type: "object"}, {Name: "count", Type: "number"}, {Name: "version", Type: "string", Required: true},
		{Name: "region", Type: "string", Required: true, Default: "eu"},
	}}
	s := session.New(strings.NewReader(""), io.Discard, io.Discard, "")
	c := &runCommand{Input: []string{"list=[1 2]", "more={a: 1}", "count=many", "color=red", "count=2", "list=[]"}}
	_, err := c.inputs(s, w)
	refusal, ok := errors.AsType[*fermata.Error](err)
	if !ok || refusal.Code != fermata.CodeInvalidRequest {
		t.Fatal(err)
	}
	want := []string{`"[1 2]" is no JSON, at character 4; the input is an array`, `"{a: 1}" is no JSON, at character 2`, `"many" is no number`, `no input "color"`, "is given twice", "is given twice", "is missing"}
	if len(refusal.Problems) != len(want) {
		t.Fatalf("%+v", refusal.Problems)
	}
	for i, p := range refusal.Problems {
		if !strings.Contains(p.Message, want[i]) || !strings.HasSuffix(p.Message, ")") {
			t.Errorf("problem %d is %q, want %q and a remedy", i, p.Message, want[i])
		}
	}
	one := &runCommand{Input: []string{"list=[1 2]", "version=1"}}
	if _, err := one.inputs(s, w); !strings.Contains(fmt.Sprint(err), "--input list: ") {
		t.Errorf("a single mistake: %v", err)
	}
}

func TestExitCodeOfARun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		state  fermata.TaskState
		reason string
		want   int
	}{
		{fermata.TaskDone, "", 0}, {fermata.TaskFailed, fermata.ReasonStepFailed, 1}, {fermata.TaskFailed, fermata.ReasonRejected, 3},
		{fermata.TaskSkipped, "", 7}, {fermata.TaskAwaitingInput, "", 8}, {fermata.TaskDeferred, "", 8}, {fermata.TaskCancelled, "", 9},
	} {
		s := session.New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, "")
		if got := s.Finish(t.Context(), runExitError(&fermata.WorkflowRun{State: c.state, Reason: c.reason})); got != c.want {
			t.Errorf("%s %s: %d, want %d", c.state, c.reason, got, c.want)
		}
	}
}

// TestWhatARunWaitsForIsSeen checks that the question is visible on a screen that is too small, below the head of the
// run.
func TestWhatARunWaitsForIsSeen(t *testing.T) {
	t.Parallel()
	for _, room := range []int{3, 8, 22} {
		s := session.New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, "")
		s.Now, s.OutTerm, s.Width = rendertest.NoonClock, true, 80
		run := waitingRun()
		for i := range 30 {
			run.Steps = append([]*fermata.WorkflowStep{{Step: fmt.Sprint("done", i), Occurrence: 1, Tool: "shell", State: fermata.StepDone}}, run.Steps...)
		}
		v := &runView{s: s, marks: drawing.Symbols, run: run}
		lines := drawing.CropDrawing(s, v, room)
		text := strings.Join(lines, "\n")
		if len(lines) > room || !strings.Contains(text, s.IDText(run.PendingQuestion.ID)) || !strings.Contains(text, "… ") {
			t.Errorf("%d lines for %d:\n%s", len(lines), room, text)
		}
		if room > 8 && !strings.HasPrefix(text, drawing.Lines(s, v)[0]) {
			t.Errorf("the head is gone:\n%s", text)
		}
	}
}

// A question that somebody answered, so that the answer can still be taken back, does not ask for another answer.
func TestAHeldAnswerIsSeen(t *testing.T) {
	t.Parallel()
	s := session.New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, "")
	s.Now = rendertest.NoonClock
	run := waitingRun()
	run.PendingQuestion.HeldAnswer = &fermata.HeldAnswer{By: fermata.Actor{Kind: fermata.ActorHuman, Name: "ann"}, ReleaseAt: rendertest.Noon.Add(5 * time.Second)}
	text := strings.Join(drawing.Lines(s, &runView{s: s, marks: drawing.Symbols, run: run}), "\n")
	if want := "ann answered; it counts from 12:00:05 UTC on, unless it is taken back: fermata undo " + s.IDText(run.PendingQuestion.ID); !strings.Contains(text, want) || strings.Contains(text, "answer it") {
		t.Errorf("it shows\n%s", text)
	}
}

// A run that went back must again do the steps after the one that it went back to, and the steps at its end.
func TestStepsAheadOfARunThatWentBack(t *testing.T) {
	t.Parallel()
	g := &fermata.WorkflowGraph{
		Nodes: []fermata.GraphNode{{ID: "start", Kind: nodeStart}, {ID: "a"}, {ID: "b"}, {ID: "beside"}, {ID: "c"}, {ID: "tidy", Phase: "finally"}, {ID: "end", Kind: nodeEnd}},
		Edges: []fermata.GraphEdge{{From: "start", To: "a"}, {From: "a", To: "b"}, {From: "a", To: "beside"}, {From: "b", To: "c"}, {From: "c", To: "end"}, {From: "c", To: "a", Back: true}},
	}
	row := func(step string, occurrence, minute int) *fermata.WorkflowStep {
		return &fermata.WorkflowStep{Step: step, Occurrence: occurrence, StartedAt: rendertest.Noon.Add(time.Duration(minute) * time.Minute)}
	}
	for _, c := range []struct {
		steps []*fermata.WorkflowStep
		want  string
	}{
		{[]*fermata.WorkflowStep{row("a", 1, 1)}, "b beside c tidy"},
		{[]*fermata.WorkflowStep{row("a", 1, 1), row("b", 1, 2), row("beside", 1, 2), row("c", 1, 3), row("tidy", 1, 4), row("b", 2, 5)}, "c tidy"},
		{[]*fermata.WorkflowStep{row("a", 1, 1), row("b", 1, 2), row("c", 1, 3), row("a", 2, 4), row("b", 2, 5)}, "beside c tidy"},
		{[]*fermata.WorkflowStep{row("a", 1, 1), row("b", 1, 2), row("c", 1, 3), row("a", 2, 4), row("b", 2, 5), row("c", 2, 6), row("tidy", 1, 7)}, ""},
	} {
		var got []string
		for _, node := range (&runView{run: &fermata.WorkflowRun{State: fermata.TaskInProgress, Graph: g, Steps: c.steps}}).stepsAhead() {
			got = append(got, node.ID)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("ahead are %q, want %q", got, c.want)
		}
	}
}

// An answer to several items is shown item by item.
func TestAnAnswerOfSeveralItemsIsToldByItem(t *testing.T) {
	t.Parallel()
	step := &fermata.WorkflowStep{QuestionID: "q_1", Output: json.RawMessage(`{"answer":{"n":4,"why":"so"},"answers":{"n":4,"why":"so"},"by":"ann"}`)}
	if got := stepAnswer(step); !strings.Contains(got, "(ann)") || strings.Contains(got, "map[") || !strings.Contains(got, "so") {
		t.Errorf("it says %q", got)
	}
}

// A run shows the question of each branch and the command that answers it, also if the step has a task that failed
// before. A task that has ended is not shown as one that blocks.
func TestQuestionsOfBranchesAreShown(t *testing.T) {
	t.Parallel()
	s := session.New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, "")
	s.Now = rendertest.NoonClock
	item := 0
	question := func(id, task, title string) *fermata.Question {
		return &fermata.Question{ID: id, TaskID: task, Title: title, Type: fermata.Blocking, Status: fermata.Pending}
	}
	step := func(id, child, q string) *fermata.WorkflowStep {
		return &fermata.WorkflowStep{Step: id, Occurrence: 1, Tool: "shell", State: fermata.StepWaiting, Attempt: 1, StartedAt: rendertest.Noon.Add(-time.Minute), ChildID: child, QuestionID: q}
	}
	remedy, own, agents := question("q_remedy", "task_remedy", "The step a of nd1 failed"), question("q_own", "task_own", "w"), question("q_agents", "task_agent", "Which one?")
	each := step("each", "task_item", "q_item")
	each.Item = &item
	run := &fermata.WorkflowRun{ID: "task_run", Workflow: "nd1", Title: "nd1", State: fermata.TaskBlocked, CreatedAt: rendertest.Noon.Add(-time.Hour), Steps: []*fermata.WorkflowStep{
		step("a", "task_failed", "q_remedy"), step("q", "task_own", "q_own"), step("agent", "task_agent", ""), step("busy", "task_busy", ""), each,
	}}
	v := &runView{s: s, marks: drawing.Symbols, run: run, children: map[string]*fermata.Task{
		"task_failed": {ID: "task_failed", Title: "nd1: a", State: fermata.TaskFailed},
		"task_own":    {ID: "task_own", Title: "nd1: q", State: fermata.TaskAwaitingInput, PendingQuestion: own},
		"task_agent":  {ID: "task_agent", Title: "nd1: agent", State: fermata.TaskAwaitingInput, PendingQuestion: agents},
		"task_busy":   {ID: "task_busy", Title: "nd1: busy", State: fermata.TaskInProgress},
		"task_item":   {ID: "task_item", Title: "nd1: each (1)", State: fermata.TaskDone},
	}, questions: map[string]*fermata.Question{"q_remedy": remedy, "q_own": own, "q_agents": agents}}
	rendertest.Golden(t, "workflow_branches.txt", strings.Join(drawing.Lines(s, v), "\n")+"\n")
	var open []string
	for _, q := range v.openQuestions() {
		open = append(open, q.ID)
	}
	if got := strings.Join(open, " "); got != "q_remedy q_own q_agents" {
		t.Errorf("the open questions are %s", got)
	}
}

package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

var update = flag.Bool("update", false, "write the golden files anew")

var noon = time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)

// golden compares text with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// openQuestion returns the question of a request, opened at noon.
func openQuestion(t *testing.T, a fermata.Ask) *fermata.Question {
	t.Helper()
	task := &fermata.Task{ID: "task_01k5h2m9n0abcdefghjk", Project: "shop", Priority: 2, Runner: fermata.RunnerExternal}
	by := fermata.Actor{Kind: fermata.ActorAgent, Name: "claude"}
	q, err := a.Open("q_01k5h2m9n0abcd3f9k2a", task, by, fermata.DefaultPolicy(), noon)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func sampleQuestions(t *testing.T) map[string]*fermata.Question {
	t.Helper()
	off := false
	choice := openQuestion(t, fermata.Ask{
		Question: "Which database?", Default: "pg", Timeout: "30m", Assignees: []string{"anna", "group:ops"},
		Body: "The old one is *slow*. " + strings.Repeat("It really is. ", 12) + "\x1b[2J",
		Options: []fermata.Option{
			{Value: "pg", Label: "PostgreSQL", Recommended: true, Description: "as everywhere else"},
			{Value: "drop", Label: "Drop it", Danger: true},
		},
		Context: &fermata.QuestionContext{Step: "migrate", Error: "timeout\nafter 30 s", Preview: &fermata.Preview{Kind: "diff", Text: "-a\n+b\u202e\n"}},
	})
	approval := openQuestion(t, fermata.Ask{
		Type: fermata.Approval, Title: "Run this?", Risk: fermata.RiskHigh, Approvals: &fermata.Quorum{Required: 2},
		Action: json.RawMessage("{\"command\":\"rm\u00a0-rf \u200b/tmp/x " + strings.Repeat("long ", 30) + "\",\"cwd\":\"\\u202e\"}"),
	})
	several := openQuestion(t, fermata.Ask{
		Type: fermata.ErrorRecovery, Title: "Two things", Timeout: fermata.Never,
		Items: []fermata.Item{
			{Key: "port", Prompt: "Which port?", Options: options("80", "8080"), Other: new(true)},
			{Key: "tags", Header: "Tags", Prompt: "Which tags?", ResponseType: fermata.ResponseMultiChoice, Options: options("a", "b"), Required: &off},
		},
	})
	answered := openQuestion(t, fermata.Ask{Question: "Name?"})
	answered.Status = fermata.Answered
	answered.Resolution = &fermata.Resolution{
		Status: fermata.Answered, DecidedBy: fermata.ActorHuman, At: noon, Answer: "Bob\x07", Comment: "as agreed",
		AnsweredBy: &fermata.Actor{Kind: fermata.ActorHuman, Name: "anna"},
	}
	return map[string]*fermata.Question{"choice": choice, "approval": approval, "several": several, "answered": answered}
}

func TestRenderQuestion(t *testing.T) {
	t.Parallel()
	for name, q := range sampleQuestions(t) {
		var out bytes.Buffer
		printer{w: &out, width: 80}.printQuestion(q, noon.Add(5*time.Minute))
		golden(t, "question_"+name+".txt", out.String())
	}
}

// hiddenText is a text with characters that a terminal would obey or not show.
const hiddenText = "x\x1b[31m\u202e\u009b\x07y"

// checkNothingHides fails the test if a hidden character is in the output.
func checkNothingHides(t *testing.T, out string) {
	t.Helper()
	if i := strings.IndexFunc(out, notice.IsHidden); i >= 0 {
		t.Errorf("a hidden character came through: %q", out[max(0, i-60):min(len(out), i+20)])
	}
}

// hiddenTask returns a task that has hidden characters in every field that an agent fills.
func hiddenTask() *fermata.Task {
	bad := hiddenText
	return &fermata.Task{
		ID: "task_01k5h2m9n0abcdefghjk", Title: bad, Body: bad, Project: bad, Reason: bad, Agent: bad, Runner: bad,
		Labels: []string{bad}, Summary: bad, BlockedBy: []string{bad}, CreatedBy: fermata.Actor{Name: bad},
		PendingQuestion: &fermata.Question{
			ID: "q_1", Title: bad, Body: bad, Project: bad, Assignees: []string{bad}, AskedBy: fermata.Actor{Name: bad},
			Action: json.RawMessage(bad), ActionHash: bad, Type: fermata.Approval,
			Items:   []fermata.Item{{Key: bad, Prompt: bad, Header: bad, Default: bad, Options: []fermata.Option{{Value: bad, Label: bad + "l", Description: bad}}}},
			Context: &fermata.QuestionContext{Step: bad, Error: bad, Preview: &fermata.Preview{Kind: bad, Text: bad}},
			Resolution: &fermata.Resolution{
				Status: fermata.TimedOut, Outcome: fermata.TakeDefault, Answer: bad, Comment: bad, Action: json.RawMessage(bad),
				LateAnswers: []fermata.LateAnswer{{By: fermata.Actor{Name: bad}, Answers: map[string]any{bad: bad}, Comment: bad}},
			},
			Votes: []fermata.Vote{{By: fermata.Actor{Name: bad}, Comment: bad}},
		},
	}
}

func TestNoTextOfAnAgentReachesTheTerminalRaw(t *testing.T) {
	t.Parallel()
	bad := hiddenText
	var out bytes.Buffer
	p := printer{w: &out, width: 80}
	p.printTask(hiddenTask(), noon)
	p.printMessages([]*fermata.Message{{Author: fermata.Actor{Name: bad}, Body: bad}}, true, noon)
	data, _ := json.Marshal(map[string]string{"title": bad, "body": bad})
	p.printEventLine(&fermata.Event{Actor: fermata.Actor{Name: bad}, Data: data})
	checkNothingHides(t, out.String())
}

func TestNoTextOfAFindingReachesTheTerminalRaw(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := printer{w: &out, width: 80}
	p.printFinding(finding{Check: "token", Status: "warn", Detail: hiddenText})
	checkNothingHides(t, out.String())
}

func TestNoTextOfAnErrorReachesTheTerminalRaw(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := newSession(strings.NewReader(""), &out, &out, "")
	s.printError(fermata.Errorf(fermata.CodeInternal, "%s", hiddenText).WithHint("%s", hiddenText))
	s.printError(fermata.Invalid(fermata.Problem{Field: hiddenText, Message: hiddenText}, fermata.Problem{Field: hiddenText, Message: hiddenText}))
	checkNothingHides(t, out.String())
}

func TestNoTextOfACellReachesTheTerminalRaw(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := newConsole(strings.NewReader(""), &out, &out)
	c.printTable(&table{columns: []column{{head: "X"}}, rows: [][]string{{hiddenText}}}, "")
	checkNothingHides(t, out.String())
}

func TestNoTextOfATreeReachesTheTerminalRaw(t *testing.T) {
	t.Parallel()
	s := newSession(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, "")
	checkNothingHides(t, strings.Join(treeLines(s, symbols, hiddenTask()), "\n"))
}

func TestTableFits(t *testing.T) {
	t.Parallel()
	table := &table{columns: []column{{head: "ID"}, {head: "TITLE", flex: true}, {head: "PROJECT", flex: true}}}
	table.add("3f9k2a", strings.Repeat("漢字 ", 40), "shop")
	table.add("b", "short\nline", strings.Repeat("p", 30))
	var out strings.Builder
	for _, line := range table.lines(60) {
		if w := ansi.StringWidth(line); w > 60 {
			t.Errorf("%q is %d wide", line, w)
		}
		out.WriteString(line + "\n")
	}
	golden(t, "table.txt", out.String())
}

func TestSpan(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", 61 * time.Second: "1m1s", 10*time.Minute + time.Second: "10m",
		time.Hour: "1h", 25*time.Hour + time.Minute: "1d1h", 90 * time.Minute: "1h30m",
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("span(%s): got %s, want %s", d, got, want)
		}
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	s := newSession(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, "")
	list := []*fermata.Task{
		{ID: "task_a", ParentID: "task_elsewhere", Title: "top", State: fermata.TaskBlocked},
		{ID: "task_b", ParentID: "task_a", Title: "left", State: fermata.TaskDone},
		{ID: "task_c", ParentID: "task_b", Title: "deep", State: fermata.TaskAwaitingInput, PendingQuestion: &fermata.Question{ID: "q_1", Title: "Which?"}},
		{ID: "task_d", ParentID: "task_a", Title: "right", State: fermata.TaskFailed, Reason: "question_timed_out"},
		{ID: "task_e", ParentID: "task_a", Title: "last", State: fermata.TaskBlocked, BlockedBy: []string{"task_b", "task_d", "task_x"}},
	}
	golden(t, "tree.txt", strings.Join(treeLines(s, symbols, list...), "\n")+"\n")
	golden(t, "tree_plain.txt", strings.Join(treeLines(s, letters, list...), "\n")+"\n")
}

// treeLines returns the lines of a tree.
func treeLines(s *session, m marks, list ...*fermata.Task) []string {
	v := &treeView{s: s, marks: m, list: list, tasksByID: map[string]*fermata.Task{}}
	for _, t := range list {
		v.tasksByID[t.ID] = t
	}
	return v.s.drawingLines(v)
}

// A held answer shows the instant from which it counts, and does not ask others to answer. An answer that did not
// count stays readable.
func TestAnswersThatCouldBeTakenBack(t *testing.T) {
	t.Parallel()
	q := openQuestion(t, fermata.Ask{Question: "Which database?", Timeout: "never"})
	alice := fermata.Caller{Kind: fermata.ActorHuman, MemberID: "mem_1", Name: "alice", Role: fermata.RoleAdmin, Scopes: fermata.Scopes}
	if _, err := q.Hold(fermata.Answer{Answer: "pg", Comment: "as ever"}, alice, fermata.DefaultPolicy(), noon); err != nil {
		t.Fatal(err)
	}
	shown := func() string {
		var out bytes.Buffer
		printer{w: &out, width: 80}.printEnding(q, noon)
		return strings.Join(strings.Fields(out.String()), " ")
	}
	if held := shown(); !strings.Contains(held, "alice answered pg; it counts from 12:00:05 UTC on") || !strings.Contains(held, "as ever") || strings.Contains(held, "until somebody answers") {
		t.Errorf("while it may be taken back: %s", held)
	}
	if _, err := q.Cancel(fermata.Actor{Kind: fermata.ActorHuman, Name: "bob"}, "", noon); err != nil {
		t.Fatal(err)
	}
	if kept := shown(); !strings.Contains(kept, "alice had answered") || !strings.Contains(kept, "did not count: pg") || !strings.Contains(kept, "as ever") {
		t.Errorf("after bob cancelled: %s", kept)
	}
}

// An event about a step of a workflow names the step and its state.
func TestEventsOfStepsNameThem(t *testing.T) {
	t.Parallel()
	got := eventText(&fermata.Event{
		Type: fermata.EventStepFinished, Actor: fermata.SystemActor,
		Data: []byte(`{"workflow":"release","step":"build","occurrence":1,"tool":"shell","state":"failed","error":"no rule"}`),
	})
	if want := "system  workflow=release  step=build  state=failed  error=no rule"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

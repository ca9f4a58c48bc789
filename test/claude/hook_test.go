package claude

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// decision is the output of the hook for a call.
type decision struct {
	Specific struct {
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason"`
		Input    struct {
			Questions []any             `json:"questions"`
			Answers   map[string]string `json:"answers"`
			Command   string            `json:"command"`
		} `json:"updatedInput"`
	} `json:"hookSpecificOutput"`
}

// hook calls the hook as Claude Code does, in a run of a task.
func (l *lab) hook(task *fermata.Task, folder, callID, tool string, input any) (decision, string) {
	l.Helper()
	data, err := json.Marshal(args{
		"session_id": "s", "cwd": l.Room.Work, "hook_event_name": "PreToolUse", "permission_mode": "acceptEdits",
		"tool_name": tool, "tool_use_id": callID, "tool_input": input,
	})
	if err != nil {
		l.Fatal(err)
	}
	cmd := exec.CommandContext(l.Context(), l.Binary, "hook", "claude", "--worker")
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + l.Room.Temp, "FERMATA_URL=" + l.Server.URL, "FERMATA_TOKEN=" + l.AgentToken,
		"FERMATA_TASK=" + task.ID, "FERMATA_RUN=" + task.RunID, "FERMATA_RUN_FOLDER=" + folder,
	}
	cmd.Dir, cmd.Stdin = l.Room.Work, bytes.NewReader(data)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		l.Fatalf("%v: %s", err, errs.String())
	}
	var d decision
	if len(out) > 0 {
		if err := json.Unmarshal(out, &d); err != nil {
			l.Fatalf("%v: %s", err, out)
		}
	}
	return d, string(out)
}

var colours = args{"questions": []args{
	{"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": []args{{"label": "green"}, {"label": "red"}}},
	{"question": "Which brushes?", "header": "Brush", "multiSelect": true, "options": []args{{"label": "small"}, {"label": "big"}}},
}}

// A question is asked once, even if the hook is called again. Another question is
// refused meanwhile. The answers are returned under the texts of the questions.
func TestHookAsks(t *testing.T) {
	t.Parallel()
	l := newServer(t)
	task, folder := l.begun("Paint the fence"), t.TempDir()
	for range 2 {
		if d, out := l.hook(task, folder, "toolu_1", "AskUserQuestion", colours); d.Specific.Decision != "defer" {
			t.Fatalf("a pending question gets %s", out)
		}
	}
	all, _, err := l.Admin.Questions(t.Context(), client.QuestionQuery{TaskID: task.ID})
	if err != nil || len(all) != 1 {
		t.Fatalf("people were asked %d questions, %v", len(all), err)
	}
	if d, out := l.hook(task, folder, "toolu_2", "AskUserQuestion", args{"questions": []args{{"question": "What else?"}}}); d.Specific.Decision != "deny" ||
		!strings.Contains(d.Specific.Reason, "One question at a time") {
		t.Errorf("another question gets %s", out)
	}
	answer := fermata.Answer{Answers: map[string]any{"q1": "green", "q2": []string{"small", "big"}}, Comment: "Thinly."}
	if _, err := l.Admin.Answer(t.Context(), all[0].ID, answer); err != nil {
		t.Fatal(err)
	}
	d, out := l.hook(task, folder, "toolu_1", "AskUserQuestion", colours)
	got := d.Specific.Input
	if d.Specific.Decision != "allow" || len(got.Questions) != 2 || got.Answers["Which colour?"] != "green" ||
		got.Answers["Which brushes?"] != "small, big\n\nComment: Thinly." {
		t.Errorf("the answered question gets %s", out)
	}
}

// A turn defers one call. If this call is answered at once, so that no question is
// pending, a second call of the turn is still refused.
func TestHookDefersOneCallOfATurn(t *testing.T) {
	t.Parallel()
	l := newServer(t)
	task, folder := l.begun("Paint the fence"), t.TempDir()
	l.hook(task, folder, "toolu_1", "AskUserQuestion", colours)
	waiting := l.Task(task.ID)
	if _, err := l.Admin.Answer(t.Context(), waiting.PendingQuestionID, fermata.Answer{Answers: map[string]any{"q1": "red", "q2": []string{"big"}}}); err != nil {
		t.Fatal(err)
	}
	if d, out := l.hook(task, folder, "toolu_2", "AskUserQuestion", args{"questions": []args{{"question": "What else?"}}}); d.Specific.Decision != "deny" {
		t.Errorf("the second call of the turn gets %s", out)
	}
}

func TestHookWithdrawn(t *testing.T) {
	t.Parallel()
	l := newServer(t)
	task, folder := l.begun("Paint the fence"), t.TempDir()
	l.hook(task, folder, "toolu_1", "AskUserQuestion", colours)
	waiting := l.Task(task.ID)
	if _, err := l.Admin.CancelQuestion(t.Context(), waiting.PendingQuestionID, "not now"); err != nil {
		t.Fatal(err)
	}
	if d, out := l.hook(task, folder, "toolu_1", "AskUserQuestion", colours); d.Specific.Decision != "deny" || d.Specific.Reason == "" {
		t.Errorf("the withdrawn question gets %s", out)
	}
}

// begun creates a task, claims it and returns it.
func (l *lab) begun(title string) *fermata.Task {
	l.Helper()
	l.CreateTask(title, "")
	claim, err := l.WorkerClient().Claim(l.Context(), fermata.ClaimRequest{Worker: "w"})
	if err != nil {
		l.Fatal(err)
	}
	return claim.Task
}

// Gate rules decide about other tools. The hook leaves a call that only reads to Claude
// Code. No call of a cancelled task is allowed, whatever the rules say.
func TestHookGates(t *testing.T) {
	t.Parallel()
	l := newServer(t)
	task, folder := l.begun("Paint the fence"), t.TempDir()
	for _, r := range []fermata.NewGateRule{
		{Tool: "Bash", Args: map[string]string{"command": "ls*"}, Decision: fermata.GateAllow},
		{Tool: "Bash", Args: map[string]string{"command": "rm*"}, Decision: fermata.GateDeny},
		{Tool: "Read", Args: map[string]string{"file_path": "*secret*"}, Decision: fermata.GateDeny},
	} {
		if _, err := l.Admin.AddGateRule(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		tool  string
		input args
		want  string
	}{
		{"Bash", args{"command": "ls -l"}, "allow"},
		{"Bash", args{"command": "rm -r x"}, "deny"},
		{"Read", args{"file_path": "README.md"}, ""},
		{"Read", args{"file_path": "/etc/secret"}, "deny"},
		{"Write", args{"file_path": "a", "content": "b"}, ""},
		{"mcp__fermata__ask_user", args{"question": "Which?"}, ""},
		{"Bash", args{"command": "make"}, "defer"},
	} {
		if d, out := l.hook(task, folder, "toolu_"+tt.tool+tt.want, tt.tool, tt.input); d.Specific.Decision != tt.want {
			t.Errorf("%s %v gets %q, want %q", tt.tool, tt.input, out, tt.want)
		}
	}
	if _, err := l.Admin.CancelTask(t.Context(), task.ID, "not now"); err != nil {
		t.Fatal(err)
	}
	for tool, input := range map[string]args{"Bash": {"command": "ls -l"}, "Read": {"file_path": "README.md"}} {
		if d, out := l.hook(task, folder, "toolu_after", tool, input); d.Specific.Decision != "deny" || !strings.Contains(d.Specific.Reason, "cancelled") {
			t.Errorf("%s of the cancelled task gets %q", tool, out)
		}
	}
}

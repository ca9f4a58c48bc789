package demoagent

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

func TestAsksBeforeItWritesTheFile(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	r := play(t, dir, &fermata.ResumeContext{})
	if r.Result != fermata.ResultNeedsInput || r.Question == nil {
		t.Fatalf("got %+v, want a question", r)
	}
	task := &fermata.Task{ID: "task_1", Project: "default"}
	q, err := r.Question.Open("q_1", task, fermata.Actor{}, fermata.DefaultPolicy(), time.Now())
	if err != nil {
		t.Fatalf("the question cannot be asked: %v", err)
	}
	if len(q.Items) != 2 || q.OnTimeout != fermata.TakeDefault {
		t.Errorf("got %d items and on_timeout %s, want 2 and default", len(q.Items), q.OnTimeout)
	}
	if text := read(t, dir, "README.md"); !strings.Contains(text, "Draft") || !strings.HasPrefix(text, "# Lighthouse\n") {
		t.Errorf("the README is %q, want the draft behind what was there", text)
	}
}

func TestWritesWhatWasDecided(t *testing.T) {
	t.Parallel()
	tests := []struct {
		format   string
		comments bool
		want     string
	}{
		{"yaml", true, "# Address"},
		{"yaml", false, `listen: "127.0.0.1:8080"`},
		{"toml", true, `name = "lighthouse"`},
		{"json", true, `"log_level": "info"`},
	}
	for _, tt := range tests {
		t.Run(tt.format, func(t *testing.T) {
			t.Parallel()
			dir := repository(t)
			play(t, dir, nil)
			r := play(t, dir, answeredContext(tt.format, tt.comments))
			if r.Result != fermata.ResultCompleted || !strings.Contains(r.Summary, "by ana") {
				t.Fatalf("got %+v, want it completed by ana's decision", r)
			}
			text := read(t, dir, "config."+tt.format)
			if !strings.Contains(text, tt.want) || strings.Contains(text, "# ") != (tt.comments && tt.format != "json") {
				t.Errorf("the file is %q", text)
			}
			if readme := read(t, dir, "README.md"); strings.Contains(readme, "Draft") || strings.Count(readme, heading) != 1 {
				t.Errorf("the README is %q, want one final section", readme)
			}
		})
	}
}

func TestMessageLeavesTheQuestionOpen(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	play(t, dir, nil)
	r := play(t, dir, &fermata.ResumeContext{Resumed: true, Pending: &fermata.Question{ID: "q_1"}})
	if r.Result != fermata.ResultNeedsInput || r.Question != nil {
		t.Errorf("got %+v, want it to wait for the same question", r)
	}
}

func answeredContext(format string, comments bool) *fermata.ResumeContext {
	return &fermata.ResumeContext{Resumed: true, Questions: []fermata.ResumeAnswer{{
		QuestionID: "q_1",
		Resolution: &fermata.Resolution{
			Status: fermata.Answered, DecidedBy: fermata.ActorHuman, AnsweredBy: &fermata.Actor{Kind: fermata.ActorHuman, Name: "ana"},
			Answers: map[string]any{"format": format, "comments": comments},
		},
	}}}
}

func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("# Lighthouse\n\nIt shines.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func play(t *testing.T, dir string, rc *fermata.ResumeContext) report {
	t.Helper()
	data, err := json.Marshal(handover{Task: &fermata.Task{ID: "task_1"}, Context: rc})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	a := &agent{dir: dir, out: &out}
	r, err := a.run(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return r
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

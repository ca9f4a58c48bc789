package hook_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/cli/clitest"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// A new answer is reported once, in the form that the event needs. A pending question is not reported.
func TestDeskIsToldTheAnswers(t *testing.T) {
	answered := fermata.Question{ID: "q_1", Title: "Which?", Status: fermata.Answered, Resolution: &fermata.Resolution{
		Status: fermata.Answered, DecidedBy: fermata.ActorHuman, At: time.Unix(0, 0), Answer: "green", Comment: "as always",
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := answered
		if strings.HasSuffix(r.URL.Path, "q_2") {
			q = fermata.Question{ID: "q_2", Title: "And?", Status: fermata.Pending}
		}
		_ = json.NewEncoder(w).Encode(q)
	}))
	t.Cleanup(server.Close)
	for event, want := range map[string]string{
		"UserPromptSubmit": `"additionalContext"`, "SessionStart": `"additionalContext"`, "Stop": `"decision":"block"`,
	} {
		for _, program := range []string{"claude", "codex"} {
			t.Run(event+" "+program, func(t *testing.T) {
				t.Setenv("XDG_CACHE_HOME", t.TempDir())
				t.Setenv("FERMATA_TASK", "")
				notes, err := agent.OpenNotes("", program+":s")
				if err != nil || notes.AddQuestion("q_1") != nil || notes.AddQuestion("q_2") != nil {
					t.Fatal(err)
				}
				stdin := `{"session_id":"s","hook_event_name":"` + event + `"}`
				code, out, talk := clitest.Run(t, stdin, "--url", server.URL, "hook", program)
				if code != session.ExitOK || !strings.Contains(out, want) || !strings.Contains(out, "green") || strings.Contains(out, "q_2") {
					t.Errorf("got %d %s %s", code, out, talk)
				}
				if code, out, _ := clitest.Run(t, stdin, "--url", server.URL, "hook", program); code != session.ExitOK || out != "" {
					t.Errorf("told again: %d %s", code, out)
				}
				if left, _, err := notes.Unread(); err != nil || len(left) != 1 || left[0] != "q_2" {
					t.Errorf("unread are %q %v", left, err)
				}
			})
		}
	}
}

// An error while the hook reads the answers never keeps a person from working.
func TestDeskNewsNeverBlock(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("FERMATA_TASK", "")
	notes, err := agent.OpenNotes("", "claude:s")
	if err != nil || notes.AddQuestion("q_1") != nil {
		t.Fatal(err)
	}
	code, out, talk := clitest.Run(t, `{"session_id":"s","hook_event_name":"Stop"}`, "--url", gone.URL, "hook", "claude")
	if code != session.ExitOK || out != "" || !strings.Contains(talk, "were not read") {
		t.Errorf("got %d %q %q", code, out, talk)
	}
}

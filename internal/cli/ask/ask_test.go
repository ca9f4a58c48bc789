package ask_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/clitest"
	"github.com/fermata-hq/fermata/internal/cli/render/rendertest"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// newQuestionServer is a server with one question, which ends with the given resolution.
func newQuestionServer(t *testing.T, q *fermata.Question, end *fermata.Resolution) string {
	t.Helper()
	var polls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		now := *q
		if r.Method == http.MethodGet && polls.Add(1) > 1 && end != nil {
			now.Status, now.Resolution = end.Status, end
		}
		_ = json.NewEncoder(w).Encode(now)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestAskWaitSaysWhatHappened(t *testing.T) {
	t.Parallel()
	human := &fermata.Actor{Kind: fermata.ActorHuman, Name: "anna"}
	tests := []struct {
		name string
		typ  fermata.QuestionType
		end  *fermata.Resolution
		out  string
		code int
	}{
		{"answered", fermata.Blocking, &fermata.Resolution{Status: fermata.Answered, AnsweredBy: human, Answer: "blue"}, "blue\n", session.ExitOK},
		{"number", fermata.Blocking, &fermata.Resolution{Status: fermata.Answered, AnsweredBy: human, Answer: 5432}, "5432\n", session.ExitOK},
		{"several choices", fermata.Blocking, &fermata.Resolution{Status: fermata.Answered, AnsweredBy: human, Answer: []string{"a", "b"}}, "a\nb\n", session.ExitOK},
		{"several items", fermata.Blocking, &fermata.Resolution{Status: fermata.Answered, AnsweredBy: human, Answers: map[string]any{"b": "2", "a": true}}, "a\ttrue\nb\t2\n", session.ExitOK},
		{"approved", fermata.Approval, &fermata.Resolution{Status: fermata.Answered, AnsweredBy: human, Answer: "approve"}, "approve\n", session.ExitOK},
		{"rejected", fermata.Approval, &fermata.Resolution{Status: fermata.Answered, AnsweredBy: human, Answer: "reject"}, "reject\n", session.ExitRejected},
		{"yes", fermata.Blocking, &fermata.Resolution{Status: fermata.Answered, AnsweredBy: human, Answer: true}, "true\n", session.ExitOK},
		{"no", fermata.Blocking, &fermata.Resolution{Status: fermata.Answered, AnsweredBy: human, Answer: false}, "false\n", session.ExitRejected},
		{"no to one of several items", fermata.Blocking, &fermata.Resolution{Status: fermata.Answered, AnsweredBy: human, Answers: map[string]any{"a": false, "b": 1}}, "a\tfalse\nb\t1\n", session.ExitOK},
		{"no by default", fermata.Blocking, &fermata.Resolution{Status: fermata.TimedOut, Outcome: fermata.TakeDefault, Answer: false}, "false\n", session.ExitTimedOut},
		{"default", fermata.Blocking, &fermata.Resolution{Status: fermata.TimedOut, Outcome: fermata.TakeDefault, Answer: "red"}, "red\n", session.ExitTimedOut},
		{"timed out", fermata.Blocking, &fermata.Resolution{Status: fermata.TimedOut, Outcome: fermata.FailTask}, "", session.ExitTimedOut},
		{"cancelled", fermata.Blocking, &fermata.Resolution{Status: fermata.Cancelled, DecidedBy: fermata.ActorHuman}, "", session.ExitCancelled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q := &fermata.Question{ID: "q_1", Type: tt.typ, Status: fermata.Pending}
			code, out, talk := clitest.Run(t, "", "--url", newQuestionServer(t, q, tt.end), "ask", "Which?", "--wait")
			if code != tt.code || out != tt.out {
				t.Errorf("got %d and %q, want %d and %q\n%s", code, out, tt.code, tt.out, talk)
			}
		})
	}
}

func TestAskWaitGivesUp(t *testing.T) {
	t.Parallel()
	q := &fermata.Question{ID: "q_1", Type: fermata.Blocking, Status: fermata.Pending}
	start := time.Now()
	code, out, _ := clitest.Run(t, "", "--url", newQuestionServer(t, q, nil), "ask", "Which?", "--wait=300ms")
	if code != session.ExitPending || out != "" || time.Since(start) > time.Minute {
		t.Errorf("got %d and %q after %s", code, out, time.Since(start))
	}
}

func TestAskPrintsTheID(t *testing.T) {
	t.Parallel()
	q := &fermata.Question{ID: "q_1", WorkspaceID: "ws", Status: fermata.Pending}
	url := newQuestionServer(t, q, nil)
	code, out, talk := clitest.Run(t, "", "--url", url, "ask", "Which?")
	if code != session.ExitOK || out != "q_1\n" || !strings.Contains(talk, url+", workspace ws") {
		t.Errorf("got %d, %q, %q", code, out, talk)
	}
}

func TestAskRequest(t *testing.T) {
	t.Parallel()
	code, out, _ := clitest.Run(t, "", "--url", "http://x", "ask", "Go?", "-o", "a=A, or so", "-o", "b", "--recommended", "a", "--danger", "b",
		"--multi", "--default", "2,1", "--timeout", "3d", "--assign", "anna,group:ops", "--session", "s", "--dry-run")
	rendertest.Golden(t, "ask_dry_run.json", out)
	if code != session.ExitOK {
		t.Errorf("exit code %d", code)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"ask"}, {"ask", "x", "--danger", "y"}, {"ask", "x", "--type", "number", "--default", "many"}, {"nope"},
		{"respond"}, {"list", "--nope"}, {"defer", "x", "someday"}, {"ask", "x", "--wait=soon"}, {"completion", "tcsh"},
		{"token", "create", "x", "--scope", "answer"}, {"--url", "nowhere", "list"}, {"serve"},
	} {
		if code, _, talk := clitest.Run(t, "", args...); code != session.ExitUsage || !strings.HasPrefix(talk, "error: ") {
			t.Errorf("%q: got %d and %q, want 2", args, code, talk)
		}
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for code, want := range map[fermata.Code]int{
		fermata.CodeInvalidRequest: 2, fermata.CodeUnauthenticated: 4, fermata.CodeForbidden: 4, fermata.CodeNotEligible: 4,
		fermata.CodeNotFound: 5, fermata.CodeQuestionClosed: 6, fermata.CodeUnavailable: 1, fermata.CodeInternal: 1,
	} {
		if got := session.ExitCode(code); got != want {
			t.Errorf("%s: got %d, want %d", code, got, want)
		}
	}
}

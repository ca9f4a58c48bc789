package answer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli"
	"github.com/fermata-hq/fermata/internal/cli/clitest"
	"github.com/fermata-hq/fermata/internal/cli/render/rendertest"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// newAnswerServer is a server with one question. It accepts and stores the answer.
func newAnswerServer(t *testing.T, q *fermata.Question) (url string, sent *fermata.Answer) {
	t.Helper()
	sent = new(fermata.Answer)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/v1/tasks/"):
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"code":"not_found","detail":"no"}`))
			return
		case r.URL.Path == "/v1/whoami":
			_, _ = w.Write([]byte(`{"kind":"human","name":"anna","role":"responder","scopes":["answer"]}`))
			return
		case r.URL.Path == "/v1/members":
			_, _ = w.Write([]byte(`{"items":[{"id":"mem_1","handle":"anna","role":"responder"}]}`))
			return
		case r.URL.Path == "/v1/questions":
			_ = json.NewEncoder(w).Encode(map[string]any{"items": []any{q}})
			return
		case r.Method == http.MethodPost:
			_ = json.NewDecoder(r.Body).Decode(sent)
		}
		_ = json.NewEncoder(w).Encode(q)
	}))
	t.Cleanup(server.Close)
	return server.URL, sent
}

func TestRespondReadsALine(t *testing.T) {
	t.Parallel()
	url, sent := newAnswerServer(t, rendertest.SampleQuestions(t)["choice"])
	code, _, talk := clitest.Run(t, "1\n", "--url", url, "respond", "3f9k2a", "--comment", "so be it")
	if code != session.ExitOK || sent.Answer != "pg" || sent.Comment != "so be it" || sent.Channel != "cli" {
		t.Errorf("got %d, sent %+v\n%s", code, sent, talk)
	}
	if !strings.Contains(talk, "Which database?") {
		t.Errorf("the question was not shown:\n%s", talk)
	}
}

// Nobody presses Enter behind a prompt that a pipe answers.
func TestEachPipedPromptHasItsOwnLine(t *testing.T) {
	t.Parallel()
	url, sent := newAnswerServer(t, rendertest.SampleQuestions(t)["several"])
	code, _, talk := clitest.Run(t, "8080\n2\n", "--url", url, "respond", "3f9k2a")
	if code != session.ExitOK || sent.Answers["port"] != "8080" || !strings.Contains(talk, "\nWhich port? (port):\nWhich tags? (tags):\n") {
		t.Errorf("got %d, sent %+v\n%s", code, sent, talk)
	}
}

// The demo cancels the prompt when its question is closed.
func TestRespondIsEndedByItsCaller(t *testing.T) {
	t.Parallel()
	url, _ := newAnswerServer(t, rendertest.SampleQuestions(t)["choice"])
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, talk bytes.Buffer
	if code := cli.Main(ctx, []string{"respond", "--url", url, "3f9k2a"}, strings.NewReader(""), &out, &talk, cli.Hooks{}); code != session.ExitInterrupted || talk.Len()+out.Len() > 0 {
		t.Errorf("got %d\n%s%s", code, &out, &talk)
	}
}

func TestRespondWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	url, _ := newAnswerServer(t, rendertest.SampleQuestions(t)["choice"])
	for _, args := range [][]string{{"respond", "3f9k2a"}, {"respond", "3f9k2a", "--no-input"}, {"respond", "3f9k2a", "green"}} {
		if code, _, talk := clitest.Run(t, "", append([]string{"--url", url}, args...)...); code != session.ExitUsage {
			t.Errorf("%q: got %d, want 2\n%s", args, code, talk)
		}
	}
}

func TestApproveSendsTheHashOfWhatItShows(t *testing.T) {
	t.Parallel()
	q := rendertest.SampleQuestions(t)["approval"]
	url, sent := newAnswerServer(t, q)
	code, _, talk := clitest.Run(t, "", "--url", url, "approve", "3f9k2a")
	if code != session.ExitUsage || sent.Answer != nil || !strings.Contains(talk, "hint: read what it releases, then run: fermata approve 3f9k2a --yes") {
		t.Errorf("without --yes: got %d, sent %+v\n%s", code, sent, talk)
	}
	code, _, talk = clitest.Run(t, "", "--url", url, "approve", "3f9k2a", "--yes")
	if code != session.ExitOK || sent.Answer != fermata.Approve || sent.ActionHash != q.ActionHash {
		t.Errorf("got %d, sent %+v", code, sent)
	}
	if !strings.Contains(talk, "rm⟨U+00A0⟩-rf ⟨U+200B⟩/tmp/x") || !strings.Contains(talk, q.ActionHash) {
		t.Errorf("the action was not shown whole:\n%s", talk)
	}
}

func TestApproveRefusesAnotherAction(t *testing.T) {
	t.Parallel()
	q := rendertest.SampleQuestions(t)["approval"]
	url, sent := newAnswerServer(t, q)
	if code, _, _ := clitest.Run(t, "", "--url", url, "approve", "3f9k2a", "--yes", "--hash", "0000"); code != session.ExitUsage || sent.Answer != nil {
		t.Errorf("another hash: got %d, sent %+v", code, sent)
	}
	q.Action = json.RawMessage(`{"command":"ls"}`)
	if code, _, _ := clitest.Run(t, "", "--url", url, "approve", "3f9k2a", "--yes"); code != session.ExitUsage || sent.Answer != nil {
		t.Errorf("changed bytes: got %d, sent %+v", code, sent)
	}
}

func TestRespondAll(t *testing.T) {
	t.Parallel()
	q := rendertest.SampleQuestions(t)["choice"]
	url, sent := newAnswerServer(t, q)
	if code, _, talk := clitest.Run(t, "\n", "--url", url, "respond", "--all"); code != session.ExitOK || sent.Answer != nil {
		t.Errorf("skipping: got %d, sent %+v\n%s", code, sent, talk)
	}
	if code, _, talk := clitest.Run(t, "MySQL\n", "--url", url, "respond", "--all"); code != session.ExitUsage || sent.Answer != nil || !strings.Contains(talk, "1 of the answers were refused") {
		t.Errorf("an answer that is no option: got %d, sent %+v\n%s", code, sent, talk)
	}
	if code, _, talk := clitest.Run(t, "caf\xe9\n", "--url", url, "respond", "--all"); code != session.ExitUsage || sent.Answer != nil || !strings.Contains(talk, "the line is not valid UTF-8, nothing was sent") {
		t.Errorf("an answer that is not UTF-8: got %d, sent %+v\n%s", code, sent, talk)
	}
	if code, _, talk := clitest.Run(t, "PostgreSQL\n", "--url", url, "respond", "--all"); code != session.ExitOK || sent.Answer != "pg" {
		t.Errorf("got %d, sent %+v\n%s", code, sent, talk)
	}
}

func TestRespondInAnEditor(t *testing.T) {
	url, sent := newAnswerServer(t, rendertest.SampleQuestions(t)["choice"])
	t.Setenv("VISUAL", `sh -c 'grep -q "#| Which database?" "$1" && echo 1 >> "$1"' -`)
	if code, _, talk := clitest.Run(t, "", "--url", url, "respond", "3f9k2a", "--edit"); code != session.ExitOK || sent.Answer != "pg" {
		t.Errorf("got %d, sent %+v\n%s", code, sent, talk)
	}
	t.Setenv("VISUAL", "true")
	if code, _, _ := clitest.Run(t, "", "--url", url, "respond", "3f9k2a", "--edit"); code != session.ExitUsage {
		t.Errorf("an empty file: got %d, want 2", code)
	}
}

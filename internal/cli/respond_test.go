package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
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
	url, sent := newAnswerServer(t, sampleQuestions(t)["choice"])
	code, _, talk := run(t, "1\n", "--url", url, "respond", "3f9k2a", "--comment", "so be it")
	if code != exitOK || sent.Answer != "pg" || sent.Comment != "so be it" || sent.Channel != "cli" {
		t.Errorf("got %d, sent %+v\n%s", code, sent, talk)
	}
	if !strings.Contains(talk, "Which database?") {
		t.Errorf("the question was not shown:\n%s", talk)
	}
}

// The demo cancels the prompt when its question is closed.
func TestRespondIsEndedByItsCaller(t *testing.T) {
	t.Parallel()
	url, _ := newAnswerServer(t, sampleQuestions(t)["choice"])
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, talk bytes.Buffer
	if code := Main(ctx, []string{"respond", "--url", url, "3f9k2a"}, strings.NewReader(""), &out, &talk, Hooks{}); code != exitInterrupted || talk.Len()+out.Len() > 0 {
		t.Errorf("got %d\n%s%s", code, &out, &talk)
	}
}

func TestRespondWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	url, _ := newAnswerServer(t, sampleQuestions(t)["choice"])
	for _, args := range [][]string{{"respond", "3f9k2a"}, {"respond", "3f9k2a", "--no-input"}, {"respond", "3f9k2a", "green"}} {
		if code, _, talk := run(t, "", append([]string{"--url", url}, args...)...); code != exitUsage {
			t.Errorf("%q: got %d, want 2\n%s", args, code, talk)
		}
	}
}

func TestApproveSendsTheHashOfWhatItShows(t *testing.T) {
	t.Parallel()
	q := sampleQuestions(t)["approval"]
	url, sent := newAnswerServer(t, q)
	code, _, talk := run(t, "", "--url", url, "approve", "3f9k2a")
	if code != exitUsage || sent.Answer != nil || !strings.Contains(talk, "hint: read what it releases, then run: fermata approve 3f9k2a --yes") {
		t.Errorf("without --yes: got %d, sent %+v\n%s", code, sent, talk)
	}
	code, _, talk = run(t, "", "--url", url, "approve", "3f9k2a", "--yes")
	if code != exitOK || sent.Answer != fermata.Approve || sent.ActionHash != q.ActionHash {
		t.Errorf("got %d, sent %+v", code, sent)
	}
	if !strings.Contains(talk, "rm⟨U+00A0⟩-rf ⟨U+200B⟩/tmp/x") || !strings.Contains(talk, q.ActionHash) {
		t.Errorf("the action was not shown whole:\n%s", talk)
	}
}

func TestApproveRefusesAnotherAction(t *testing.T) {
	t.Parallel()
	q := sampleQuestions(t)["approval"]
	url, sent := newAnswerServer(t, q)
	if code, _, _ := run(t, "", "--url", url, "approve", "3f9k2a", "--yes", "--hash", "0000"); code != exitUsage || sent.Answer != nil {
		t.Errorf("another hash: got %d, sent %+v", code, sent)
	}
	q.Action = json.RawMessage(`{"command":"ls"}`)
	if code, _, _ := run(t, "", "--url", url, "approve", "3f9k2a", "--yes"); code != exitUsage || sent.Answer != nil {
		t.Errorf("changed bytes: got %d, sent %+v", code, sent)
	}
}

func TestRespondAll(t *testing.T) {
	t.Parallel()
	q := sampleQuestions(t)["choice"]
	url, sent := newAnswerServer(t, q)
	if code, _, talk := run(t, "\n", "--url", url, "respond", "--all"); code != exitOK || sent.Answer != nil {
		t.Errorf("skipping: got %d, sent %+v\n%s", code, sent, talk)
	}
	if code, _, talk := run(t, "MySQL\n", "--url", url, "respond", "--all"); code != exitUsage || sent.Answer != nil || !strings.Contains(talk, "1 of the answers were refused") {
		t.Errorf("an answer that is no option: got %d, sent %+v\n%s", code, sent, talk)
	}
	if code, _, talk := run(t, "caf\xe9\n", "--url", url, "respond", "--all"); code != exitUsage || sent.Answer != nil || !strings.Contains(talk, "the line is not valid UTF-8, nothing was sent") {
		t.Errorf("an answer that is not UTF-8: got %d, sent %+v\n%s", code, sent, talk)
	}
	if code, _, talk := run(t, "PostgreSQL\n", "--url", url, "respond", "--all"); code != exitOK || sent.Answer != "pg" {
		t.Errorf("got %d, sent %+v\n%s", code, sent, talk)
	}
}

func TestRespondInAnEditor(t *testing.T) {
	url, sent := newAnswerServer(t, sampleQuestions(t)["choice"])
	t.Setenv("VISUAL", `sh -c 'grep -q "#| Which database?" "$1" && echo 1 >> "$1"' -`)
	if code, _, talk := run(t, "", "--url", url, "respond", "3f9k2a", "--edit"); code != exitOK || sent.Answer != "pg" {
		t.Errorf("got %d, sent %+v\n%s", code, sent, talk)
	}
	t.Setenv("VISUAL", "true")
	if code, _, _ := run(t, "", "--url", url, "respond", "3f9k2a", "--edit"); code != exitUsage {
		t.Errorf("an empty file: got %d, want 2", code)
	}
}

package github_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	standin "github.com/fermata-hq/fermata/test/standin/github"
)

// examples returns the example payloads of all webhooks that GitHub publishes.
func examples(t *testing.T) map[string][]json.RawMessage {
	t.Helper()
	where := exec.Command("../../../scripts/setup-examples")
	where.Stderr = os.Stderr
	path, err := where.Output()
	if err != nil {
		t.Fatalf("GitHub's examples are not installed: run scripts/setup examples (%v)", err)
	}
	data, err := os.ReadFile(strings.TrimSpace(string(path)))
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Name     string            `json:"name"`
		Examples []json.RawMessage `json:"examples"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	found := map[string][]json.RawMessage{}
	for _, event := range list {
		found[event.Name] = event.Examples
	}
	return found
}

// Of all published examples, the channel reads only new comments on issues.
func TestPublishedExamples(t *testing.T) {
	t.Parallel()
	settings := map[string]any{"poll": "off", "repository": "Codertocat/Hello-World", "issue": nil}
	w := newFixture(t, settings)
	// The issue of the examples has questions, so that its comments are read.
	const issue = "issue/Codertocat/Hello-World#1"
	if err := w.store.store(t.Context(), issue, time.Now().Format(time.RFC3339)); err != nil {
		t.Fatal(err)
	}
	all, read := 0, 0
	for event, payloads := range examples(t) {
		for i, body := range payloads {
			all++
			var e struct {
				Action  string `json:"action"`
				Comment struct {
					CreatedAt string `json:"created_at"`
				} `json:"comment"`
			}
			if err := json.Unmarshal(body, &e); err != nil {
				t.Fatal(err)
			}
			// The examples are from 2019, which is too old.
			body = bytes.ReplaceAll(body, []byte(`"`+e.Comment.CreatedAt+`"`), []byte(`"`+time.Now().UTC().Format(time.RFC3339)+`"`))
			w.hub.Requests()
			// All of them are about one comment, which a channel reads only
			// once.
			h := w.open(settings).Handler(w.server.hear)
			r := request(&standin.Delivery{Event: event, GUID: "72d3162e-cc78-11e3-81ab-" + strings.Repeat("0", 12)}, body, standin.Sign(body, standin.Secret))
			got := status(h, r)
			asked := len(w.hub.Requests()) > 0
			want := event == "issue_comment" && e.Action == "created"
			if asked != want {
				t.Errorf("%s %s (%d): read %v, answered %d", event, e.Action, i, asked, got)
			}
			if asked {
				read++
			} else if got != http.StatusOK {
				t.Errorf("%s %s (%d) is answered %d", event, e.Action, i, got)
			}
			if got := status(h, request(&standin.Delivery{Event: event, GUID: "1-forged-1"}, body, standin.Sign(body, "wrong"))); got != http.StatusUnauthorized {
				t.Errorf("%s, forged, is answered %d", event, got)
			}
		}
	}
	if all < 300 || read < 3 {
		t.Errorf("%d examples, %d read: are these all of them?", all, read)
	}
}

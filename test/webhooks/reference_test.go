package webhooks

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/channel/webhook"
	"github.com/fermata-hq/fermata/internal/notice"
	standin "github.com/fermata-hq/fermata/test/standin/webhook"
)

// request is one line of the input of verify.mjs.
type request struct {
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    []byte            `json:"body"`
}

// said is one line of the output of verify.mjs.
type said struct{ Type, Error string }

// verified verifies requests with the reference library for JavaScript.
func verified(t *testing.T, requests []request) []said {
	t.Helper()
	if _, err := os.Stat("../../web/node_modules/standardwebhooks"); err != nil {
		t.Fatal("the packages of the web interface are not installed: run make web")
	}
	var in, out, problems bytes.Buffer
	for _, r := range requests {
		if err := json.NewEncoder(&in).Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("node", "verify.mjs")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &problems)
	}
	var all []said
	for line := range strings.Lines(out.String()) {
		var s said
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	if len(all) != len(requests) {
		t.Fatalf("%d replies for %d requests", len(all), len(requests))
	}
	return all
}

// sent sends an event over a channel with the settings and returns the request.
func sent(t *testing.T, settings map[string]any) standin.Attempt {
	t.Helper()
	there := standin.New(t)
	settings["url"], settings["allow_private"] = there.URL, true
	raw, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	c, err := webhook.Open(raw, notice.Env{Name: "hook", HTTP: http.DefaultClient})
	if err != nil {
		t.Fatal(err)
	}
	n := &notice.Notice{Delivery: "dlv_1", Purpose: notice.Event, Raw: json.RawMessage(`{"type": "question.asked", "data": {"title": "Straße 🙂 \u003cb\u003e"}}`)}
	// It does not matter here whether the stand-in accepts the request.
	_, _ = c.Send(t.Context(), n)
	came := there.Attempts()
	if len(came) != 1 {
		t.Fatalf("%d requests came", len(came))
	}
	return came[0]
}

func of(a standin.Attempt, secret string) request {
	headers := map[string]string{}
	for name := range a.Header {
		headers[strings.ToLower(name)] = a.Header.Get(name)
	}
	return request{Secret: secret, Headers: headers, Body: a.Body}
}

// The reference library of another language accepts the server's signatures,
// and no changed request.
func TestReferenceLibraryTakesTheSignatures(t *testing.T) {
	t.Parallel()
	const other = "whsec_" + "YW5vdGhlciBzZWNyZXQgdGhhdCBpcyBub3Qgb3Vycw=="
	made, err := webhook.Prepare(nil, json.RawMessage(`{"url": "https://example.com", "ed25519_private_key": "generate"}`))
	if err != nil {
		t.Fatal(err)
	}
	var keys struct {
		Private string `json:"ed25519_private_key"`
		Public  string `json:"ed25519_public_key"`
	}
	if err := json.Unmarshal(made, &keys); err != nil {
		t.Fatal(err)
	}
	once := sent(t, map[string]any{"secret": standin.Secret})
	rotated := sent(t, map[string]any{"secret": other, "previous_secret": standin.Secret})
	everything := sent(t, map[string]any{"secret": standin.Secret, "ed25519_private_key": keys.Private})
	changed := of(once, standin.Secret)
	changed.Body = bytes.Replace(changed.Body, []byte("asked"), []byte("asker"), 1)
	renamed := of(once, standin.Secret)
	renamed.Headers["webhook-id"] = "dlv_2"
	old := of(once, standin.Secret)
	old.Headers["webhook-timestamp"] = "1700000000"

	requests := []request{
		of(once, standin.Secret), of(rotated, other), of(rotated, standin.Secret), of(everything, standin.Secret), of(everything, keys.Public),
		of(once, other), of(once, keys.Public), changed, renamed, old,
	}
	const good = 5
	for i, s := range verified(t, requests) {
		if taken := s.Error == "" && s.Type == "question.asked"; taken != (i < good) {
			t.Errorf("request %d: %+v", i, s)
		}
	}
}

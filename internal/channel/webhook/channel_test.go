package webhook_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/webhook"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/outbound"
	"github.com/fermata-hq/fermata/test/patience"
	standin "github.com/fermata-hq/fermata/test/standin/webhook"
)

// open opens a channel as the server does.
func open(t *testing.T, settings map[string]any) *webhook.Channel {
	t.Helper()
	raw, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	c, err := webhook.Open(raw, notice.Env{Name: "hook", HTTP: outbound.Client(outbound.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// eventNotice returns an event in the form of the log.
func eventNotice(delivery string) *notice.Notice {
	return &notice.Notice{
		Delivery: delivery, Purpose: notice.Event,
		Raw: json.RawMessage(`{"type": "question.asked", "timestamp": "2026-11-21T20:00:00Z", "data": {"question_id": "q_1", "title": "Straße <b>?"}}`),
	}
}

func hint(err error) string {
	if e, ok := errors.AsType[*fermata.Error](err); ok {
		return e.Hint
	}
	return ""
}

func TestEventIsPostedAsItIs(t *testing.T) {
	t.Parallel()
	there := standin.New(t)
	c := open(t, there.Settings())
	n := eventNotice("dlv_1")
	message, err := c.Send(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Send(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	came := there.Attempts()
	if len(came) != 2 {
		t.Fatalf("%d requests came, want 2", len(came))
	}
	for _, a := range came {
		if a.ID != "dlv_1" || string(a.Body) != string(n.Raw) || a.Invalid != nil || a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%+v", a)
		}
	}
	if message.Content != string(n.Raw) || message.Ref != nil {
		t.Errorf("the message: %+v", message)
	}
	if same, err := c.Update(t.Context(), n, message); err != nil || same.Content != message.Content || there.ReceivedCount() != 2 {
		t.Errorf("an event does not change: %+v, %v, %d requests", same, err, there.ReceivedCount())
	}
}

func TestNoticeOfARoute(t *testing.T) {
	t.Parallel()
	there := standin.New(t)
	c := open(t, there.Settings())
	n := &notice.Notice{Delivery: "dlv_2", Purpose: notice.Asked, Question: &fermata.Question{ID: "q_2", Title: "Which?"}, Open: "https://fermata.test/q/q_2"}
	// A receiver is not a person, so nothing that it gets may answer for one.
	n.Answer, n.Reply = "https://fermata.test/a/link-of-ada", "reply-secret-of-ada"
	message, err := c.Send(t.Context(), n)
	if err != nil || message.Ref == nil {
		t.Fatalf("%+v, %v", message, err)
	}
	if strings.Contains(message.Content, "link-of-ada") || strings.Contains(message.Content, "reply-secret") {
		t.Errorf("the body answers: %s", message.Content)
	}
	if seen := there.VisibleMessages(""); len(seen) != 1 || seen[0].Question != "q_2" || seen[0].Closed || seen[0].Text != "notice.asked" {
		t.Errorf("the receiver sees %+v", seen)
	}
	n.Outcome = &notice.Outcome{Status: fermata.Answered, Words: "answered by Ada: toml"}
	for range 2 {
		if _, err := c.Update(t.Context(), n, message); err != nil {
			t.Fatal(err)
		}
	}
	if seen := there.VisibleMessages(""); len(seen) != 1 || !seen[0].Closed || seen[0].ID != "dlv_2.answered" {
		t.Errorf("the receiver sees %+v", seen)
	}
	if taken := there.AcceptedCounts(); taken["dlv_2"] != 1 || taken["dlv_2.answered"] != 2 {
		t.Errorf("it took %v", taken)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for fault, want := range map[standin.Fault]struct {
		err, hint string
		wait      time.Duration
		gone      bool
	}{
		standin.Slow:     {},
		standin.Truncate: {},
		standin.Fail:     {err: "500", hint: "its log"},
		standin.Busy:     {err: "503", hint: "busy", wait: time.Second},
		standin.Limit:    {err: "429", hint: "busy", wait: time.Second},
		standin.Redirect: {err: "307", hint: "redirects are not followed"},
		standin.Gone:     {err: "410", hint: "switched off", gone: true},
		standin.Drop:     {err: "not reached", hint: "tried again"},
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			there := standin.New(t)
			there.SetFaults(func(*standin.Attempt) standin.Fault { return fault })
			_, err := open(t, there.Settings()).Send(t.Context(), eventNotice("dlv_3"))
			if want.err == "" {
				if err != nil {
					t.Errorf("it was taken, but: %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), want.err) || !strings.Contains(hint(err), want.hint) {
				t.Fatalf("%v (%s)", err, hint(err))
			}
			f := &notice.SendError{}
			if errors.As(err, &f); f.Wait != want.wait || f.Final != want.gone || f.Ended != want.gone {
				t.Errorf("how it goes on: %+v", f)
			}
			if strings.Contains(err.Error(), there.URL) {
				t.Errorf("the address, which may hold a secret, is in the error: %v", err)
			}
			for _, a := range there.Attempts() {
				if strings.Contains(err.Error(), string(a.Body)) {
					t.Errorf("what was said is in the error: %v", err)
				}
			}
		})
	}
}

// TestTimeout uses a fake clock. A receiver that never responds costs fifteen seconds.
func TestTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := roundTripper(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		})
		raw := json.RawMessage(`{"url": "https://example.com/hook", "secret": "` + standin.Secret + `"}`)
		c, err := webhook.Open(raw, notice.Env{HTTP: &http.Client{Transport: hang}})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err = c.Send(t.Context(), eventNotice("dlv_4"))
		if took := time.Since(began); err == nil || took != 15*time.Second || !strings.Contains(err.Error(), "15s") {
			t.Errorf("after %s: %v", took, err)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestResponseIsReadToALimit(t *testing.T) {
	t.Parallel()
	written := make(chan int, 1)
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := 0
		defer func() { written <- n }()
		chunk := make([]byte, 64<<10)
		for range 1000 {
			wrote, err := w.Write(chunk)
			if n += wrote; err != nil {
				return
			}
		}
	}))
	t.Cleanup(there.Close)
	c := open(t, map[string]any{"url": there.URL, "secret": standin.Secret, "allow_private": true})
	if _, err := c.Send(t.Context(), eventNotice("dlv_5")); err != nil {
		t.Fatal(err)
	}
	if n := patience.Receive(t, "the reply ends", written); n > 32<<20 {
		t.Errorf("%d bytes of a response were taken", n)
	}
}

func TestPrivateAddressIsRefusedUnlessAllowed(t *testing.T) {
	t.Parallel()
	there := standin.New(t)
	settings := there.Settings()
	delete(settings, "allow_private")
	c := open(t, settings)
	_, sendErr := c.Send(t.Context(), eventNotice("dlv_6"))
	checkErr := c.Check(t.Context())
	for _, err := range []error{sendErr, checkErr} {
		if err == nil || !strings.Contains(err.Error(), "not a public address") || !strings.Contains(hint(err), "allow_private") {
			t.Errorf("%v (%s)", err, hint(err))
		}
	}
	if there.ReceivedCount() != 0 {
		t.Errorf("%d requests came", there.ReceivedCount())
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	there := standin.New(t)
	c := open(t, there.Settings())
	if err := c.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := there.Attempts()[0]; a.Type != "webhook.test" || !strings.HasPrefix(a.ID, "test_") || !strings.Contains(string(a.Body), `"channel":"hook"`) {
		t.Errorf("%+v: %s", a, a.Body)
	}
	there.SetSecrets("whsec_" + "YW5vdGhlciBzZWNyZXQgdGhhdCBpcyBub3Qgb3Vycw==")
	if err := c.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "401") || !strings.Contains(hint(err), "secret") {
		t.Errorf("a receiver with another secret: %v (%s)", err, hint(err))
	}
	there.Close()
	if err := c.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "not reached") {
		t.Errorf("no receiver: %v", err)
	}
	lost := open(t, map[string]any{"url": "https://nowhere.invalid/hook", "secret": standin.Secret})
	if err := lost.Check(t.Context()); err == nil || !strings.Contains(hint(err), "name in the address") {
		t.Errorf("no such name: %v (%s)", err, hint(err))
	}
	secured := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secured.Close)
	untrusted := open(t, map[string]any{"url": secured.URL, "secret": standin.Secret, "allow_private": true})
	if err := untrusted.Check(t.Context()); err == nil || !strings.Contains(hint(err), "certificate") {
		t.Errorf("a certificate of its own: %v (%s)", err, hint(err))
	}
}

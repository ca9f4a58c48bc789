package github_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
	standin "github.com/fermata-hq/fermata/test/standin/github"
)

// labels returns the labels that were reported to the fake server, the oldest
// first, as "login label issue".
func (d *fakeServer) labels() []string {
	var list []string
	for _, in := range d.heardMessages() {
		if in.RemoteEvent != nil {
			list = append(list, fmt.Sprintf("%v %v %v", in.RemoteEvent.Data["actor"], in.RemoteEvent.Data["label"], in.RemoteEvent.Data["issue"]))
		}
	}
	return list
}

func TestALabelIsHeardHoweverItComes(t *testing.T) {
	t.Parallel()
	ways := map[string]struct {
		change map[string]any
		hook   bool
	}{
		"webhook":        {map[string]any{"poll": "off"}, true},
		"polling":        {map[string]any{"webhook_secret": nil}, false},
		"both":           {nil, true},
		"both of an App": {app, true},
		"an App that names no repository": {
			map[string]any{"app_id": standin.AppID, "repository": nil, "issue": nil}, true,
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, way.change)
			w.hub.WriteIssue(standin.Issue, "The title", "The text")
			if way.hook {
				w.serveWebhooks()
			}
			w.listen()
			w.hub.AddUser("ada", "triage")
			w.hub.Label("ada", standin.Issue, "auto-fix")
			patience.Await(t, "it is heard", func() bool { return len(w.server.labels()) == 1 })
			w.hub.Unlabel(standin.Issue, "auto-fix")
			w.hub.Label("ada", standin.Issue, "auto-fix")
			patience.Await(t, "it is heard again", func() bool { return len(w.server.labels()) == 2 })
			for _, d := range w.hub.Deliveries() {
				if d.Status != http.StatusOK || d.Response != "heard\n" {
					t.Errorf("the webhook is answered %d %s", d.Status, d.Response)
				}
				if again := w.hub.Redeliver(d); again.Status != http.StatusOK {
					t.Errorf("delivered again, it is answered %d %s", again.Status, again.Response)
				}
			}
			// Another process reads the same list, and reports nothing new.
			w.hub.Requests()
			w.listenWith(w.open(way.change))
			if _, nameless := way.change["repository"]; !nameless && way.change["poll"] != "off" {
				w.awaitLabelPoll()
			}
			got := w.server.heardMessages()[0]
			want := map[string]any{
				"repository": standin.Repository, "issue": standin.Issue, "label": "auto-fix", "actor": "ada", "title": "The title",
				"url": fmt.Sprintf("%s/%s/issues/%d", w.hub.URL, standin.Repository, standin.Issue),
			}
			if fmt.Sprint(got.RemoteEvent.Data) != fmt.Sprint(want) || got.RemoteEvent.Type != fermata.EventLabelAdded {
				t.Errorf("heard %s %v, want %v", got.RemoteEvent.Type, got.RemoteEvent.Data, want)
			}
			if id, _ := w.hub.AddPerson("ada"); got.RemoteEvent.By.Kind != "github" || got.RemoteEvent.By.ID != id {
				t.Errorf("the label is by %+v, want the account %s", got.RemoteEvent.By, id)
			}
			if n := len(w.server.labels()); n != 2 {
				t.Errorf("heard %d times: %q", n, w.server.labels())
			}
		})
	}
}

// awaitLabelPoll waits until the channel has polled for labels again.
func (w *fixture) awaitLabelPoll() {
	w.t.Helper()
	patience.Await(w.t, "it has looked", func() bool {
		return slices.Contains(w.hub.Requests(), "GET /repos/octo/hello/issues/events")
	})
}

func TestLabelsThatAreNotHeard(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]map[string]any{"webhook": {"poll": "off"}, "polling": {"webhook_secret": nil}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, change)
			w.serveWebhooks()
			w.hub.AddUser("ada", "write")
			w.hub.AddPull(8)
			w.hub.Label("ada", 8, "auto-fix")
			w.hub.Label(standin.Machine, standin.Issue, "auto-fix-skip")
			w.hub.SetClock(func() time.Time { return time.Now().Add(-73 * time.Hour) })
			w.hub.Label("ada", standin.Issue, "long ago")
			w.hub.SetClock(time.Now)
			w.hub.Deliveries()
			w.listen()
			w.hub.Label("ada", standin.Issue, "now")
			patience.Await(t, "the last is heard", func() bool { return len(w.server.labels()) > 0 })
			if got := w.server.labels(); !slices.Equal(got, []string{"ada now 7"}) {
				t.Errorf("heard %q", got)
			}
		})
	}
}

// These webhooks are signed, but are not a new label on an issue of this
// channel.
func TestSignedLabelsThatAreNotHeard(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]any{"app_id": standin.AppID, "poll": "off"})
	w.hub.AddUser("ada", "write")
	w.hub.SetInbound("http://127.0.0.1:1/v1/inbound/github/webhook") // no server listens there
	w.hub.Label("ada", standin.Issue, "auto-fix")
	d := w.hub.Deliveries()[0]
	h := w.channel.Handler(w.server.hear)
	issue := func(e map[string]any) map[string]any { return e["issue"].(map[string]any) }
	tests := map[string]struct {
		change func(map[string]any)
		status int
		words  string
	}{
		"another action":       {func(e map[string]any) { e["action"] = "unlabeled" }, http.StatusOK, "only added labels"},
		"a pull request":       {func(e map[string]any) { issue(e)["pull_request"] = map[string]any{} }, http.StatusOK, "pull request"},
		"another repository":   {func(e map[string]any) { e["repository"] = map[string]any{"full_name": "octo/other"} }, http.StatusOK, "does not know"},
		"no repository":        {func(e map[string]any) { delete(e, "repository") }, http.StatusOK, "names no issue"},
		"another installation": {func(e map[string]any) { e["installation"] = map[string]any{"id": 1} }, http.StatusOK, "another installation"},
		"nobody":               {func(e map[string]any) { delete(e, "sender") }, http.StatusOK, "nobody"},
		"no label":             {func(e map[string]any) { delete(e, "label") }, http.StatusOK, "no label"},
		"an old one":           {func(e map[string]any) { issue(e)["updated_at"] = time.Now().Add(-73 * time.Hour) }, http.StatusOK, "too old"},
		"one without time":     {func(e map[string]any) { delete(issue(e), "updated_at") }, http.StatusOK, "too old"},
		"wrong types":          {func(e map[string]any) { e["label"] = "auto-fix" }, http.StatusBadRequest, "no valid JSON"},
	}
	for name, test := range tests {
		var e map[string]any
		if err := json.Unmarshal(d.Body, &e); err != nil {
			t.Fatal(err)
		}
		test.change(e)
		body := mustEncode(t, e)
		got, words := responseOf(h, request(d, body, standin.Sign(body, standin.Secret)))
		if got != test.status || !strings.Contains(words, test.words) || len(w.server.heardMessages()) != 0 {
			t.Errorf("%s is answered %d %s and heard %d times", name, got, words, len(w.server.heardMessages()))
		}
	}
	if got := status(h, request(d, d.Body, standin.Sign(d.Body, "another secret, long enough"))); got != http.StatusUnauthorized {
		t.Errorf("a forged one is answered %d", got)
	}
	if got := status(h, request(d, d.Body, standin.Sign(d.Body, standin.Secret))); got != http.StatusOK || len(w.server.labels()) != 1 {
		t.Errorf("the genuine one is answered %d and heard %d times", got, len(w.server.labels()))
	}
}

// GitHub's list may show a label a little later than the webhook, and the
// server may be busy.
func TestALabelIsNotLost(t *testing.T) {
	t.Parallel()
	t.Run("the list lags", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t, nil)
		w.serveWebhooks()
		w.hub.AddUser("ada", "write")
		w.hub.Lag(1)
		w.hub.Label("ada", standin.Issue, "auto-fix")
		if d := w.hub.Deliveries()[0]; d.Response != "heard\n" {
			t.Errorf("the webhook is answered %d %s", d.Status, d.Response)
		}
	})
	t.Run("the server is busy", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t, nil)
		w.serveWebhooks()
		w.hub.AddUser("ada", "write")
		w.server.fail(2)
		w.hub.Label("ada", standin.Issue, "auto-fix")
		if d := w.hub.Deliveries()[0]; d.Status != http.StatusServiceUnavailable {
			t.Errorf("the webhook is answered %d %s", d.Status, d.Response)
		}
		w.listen()
		patience.Await(t, "it is found", func() bool { return len(w.server.labels()) == 1 })
	})
	t.Run("many while nobody looked", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t, map[string]any{"webhook_secret": nil})
		w.hub.AddUser("ada", "write")
		stop := w.listenWith(w.channel)
		w.awaitLabelPoll()
		stop()
		const many = 250
		for i := range many {
			w.hub.Label("ada", standin.Issue, fmt.Sprintf("label %d", i))
		}
		w.listenWith(w.open(map[string]any{"webhook_secret": nil}))
		patience.Await(t, "all are heard", func() bool { return len(w.server.labels()) == many })
		for i, got := range w.server.labels() {
			if got != fmt.Sprintf("ada label %d 7", i) {
				t.Fatalf("number %d is %s", i, got)
			}
		}
	})
}

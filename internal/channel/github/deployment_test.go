package github_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	standin "github.com/fermata-hq/fermata/test/standin/github"
)

func TestADeploymentThatWaitsIsHeardOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]any{"poll": "off", "app_id": standin.AppID})
	w.serveWebhooks()
	id := w.hub.AddUser("ada", "write")
	run := w.hub.Deploy("ada", "production")
	sent := w.hub.Deliveries()
	if len(sent) != 1 || sent[0].Response != "heard\n" {
		t.Fatalf("the webhooks are %+v", sent)
	}
	if again := w.hub.Redeliver(sent[0]); again.Status != http.StatusOK {
		t.Errorf("delivered again, it is answered %d %s", again.Status, again.Response)
	}
	heard := w.server.heardMessages()
	if len(heard) != 1 || heard[0].RemoteEvent == nil || heard[0].RemoteEvent.Type != fermata.EventDeploymentRequested {
		t.Fatalf("heard %+v", heard)
	}
	got := heard[0].RemoteEvent
	want := map[string]any{
		"repository": standin.Repository, "environment": "production", "ref": standin.Base, "sha": w.hub.BranchAt(standin.Base), "run": run,
		"deployment": run + 1, "event": "push", "actor": "ada", "url": fmt.Sprintf("https://github.example/%s/actions/runs/%d", standin.Repository, run),
	}
	if fmt.Sprint(got.Data) != fmt.Sprint(want) {
		t.Errorf("heard %v, want %v", got.Data, want)
	}
	if got.By.ID != fmt.Sprint(id) || got.By.Kind != "github" {
		t.Errorf("it is by %+v", got.By)
	}
}

func TestDeploymentsThatAreNotHeard(t *testing.T) {
	t.Parallel()
	app := map[string]any{"poll": "off", "app_id": standin.AppID}
	for name, tt := range map[string]struct {
		change map[string]any
		// old is replaced by edited in GitHub's request.
		old, edited string
		words       string
	}{
		"a token's channel":           {map[string]any{"poll": "off"}, "", "", "only an App"},
		"another action":              {app, `"requested"`, `"approved"`, "only requests"},
		"another repository":          {app, `"full_name":"octo/hello"`, `"full_name":"evil/other"`, "does not know this repository"},
		"another installation":        {app, fmt.Sprint(standin.Installation), "816", "another installation"},
		"no run":                      {app, "/actions/runs/", "/actions/jobs/", "names no deployment"},
		"a run that is no number":     {app, "/deployment_protection_rule", "/../1/deployment_protection_rule", "names no deployment"},
		"no environment":              {app, `"environment":"production","event"`, `"environment":"","event"`, "names no deployment"},
		"nobody who began it":         {app, `"sender":{"id":`, `"sender":{"id":-`, "names no deployment"},
		"one of three days ago":       {app, "", "", "too old"},
		"a repository without a name": {app, `"full_name":"octo/hello"`, `"full_name":"octo"`, "names no deployment"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, tt.change)
			elsewhere := httptest.NewServer(http.NotFoundHandler())
			t.Cleanup(elsewhere.Close)
			w.hub.SetInbound(elsewhere.URL)
			if name == "one of three days ago" {
				w.hub.SetClock(func() time.Time { return time.Now().Add(-73 * time.Hour) })
			}
			w.hub.Deploy("ada", "production")
			d := w.hub.Deliveries()[0]
			body := strings.Replace(string(d.Body), tt.old, tt.edited, 1)
			if body == string(d.Body) && tt.old != tt.edited {
				t.Fatalf("%s is not in %s", tt.old, d.Body)
			}
			d.Body = []byte(body)
			w.serveWebhooks()
			if got := w.hub.Redeliver(d); got.Status != http.StatusOK || !strings.Contains(got.Response, "ignored: ") || !strings.Contains(got.Response, tt.words) {
				t.Errorf("the webhook is answered %d %s", got.Status, got.Response)
			}
			if heard := w.server.heardMessages(); len(heard) != 0 {
				t.Errorf("heard %+v", heard)
			}
		})
	}
}

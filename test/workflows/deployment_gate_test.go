package workflows

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
	standin "github.com/fermata-hq/fermata/test/standin/github"
)

// The commands of the README: a job of Actions waits to deploy, a person approves it, and GitHub is told.
func TestDeploymentGate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		command, state string
		ends           fermata.TaskState
		report         string
	}{
		"approved": {"fermata approve", "approved", fermata.TaskDone, "Approved by admin. The tests are green."},
		"rejected": {"fermata reject", "rejected", fermata.TaskFailed, "admin rejected the step approve. The tests are green."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, hub := newWorld(t, "deployment-gate", process.SQLite(t)), standin.New()
			t.Cleanup(hub.Close)
			hub.Grant("deployments", "write")
			hub.Grant("actions", "read")
			hub.SetInbound(w.server.URL)
			key := filepath.Join(w.home, "app.pem")
			w.OK(os.WriteFile(key, []byte(hub.PrivateKey()), 0o600))
			w.edit("README.md", "webhook_secret=env:GITHUB_WEBHOOK_SECRET", "webhook_secret='"+standin.Secret+"' poll=off api_url="+hub.API())
			script := strings.Replace(w.readme(), "fermata approve $RUN --yes", tt.command+" $RUN --yes", 1)
			before, after, found := strings.Cut(script, "fermata workflow runs\n")
			if !found {
				t.Fatalf("the README is\n%s", script)
			}
			w.script(fmt.Sprintf("APP=%d INSTALLATION=%d KEY=%s REPOSITORY=%s\n", standin.AppID, standin.Installation, key, standin.Repository) + before)
			job := hub.Deploy("ada", "production")
			w.run("deployment-gate", fermata.TaskAwaitingApproval)
			if state, reports := hub.Deployment(job); state != "" || len(reports) != 1 || !strings.Contains(reports[0], "A person decides in Fermata") {
				t.Errorf("before the approval it is %q, with %q", state, reports)
			}
			w.script(after)
			run := w.run("deployment-gate", tt.ends)
			if run.Title != "deployment-gate for octo/hello to production" || run.Trigger != fermata.TriggerDeployment {
				t.Errorf("%s was started by %s", run.Title, run.Trigger)
			}
			patience.Await(t, "GitHub is told", func() bool { state, _ := hub.Deployment(job); return state != "" })
			if state, reports := hub.Deployment(job); state != tt.state || reports[1] != tt.report {
				t.Errorf("it is %q, with %q", state, reports)
			}
		})
	}
}

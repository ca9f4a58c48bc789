package github_test

import (
	"strings"
	"testing"

	standin "github.com/fermata-hq/fermata/test/standin/github"
)

// newDeploymentWorld returns a world whose run was started by a waiting deployment.
func newDeploymentWorld(t *testing.T) (w *world, run int64) {
	t.Helper()
	w = newWorld(t)
	w.settings = w.hub.AppSettings()
	w.hub.Grant("deployments", "write")
	w.hub.Grant("actions", "read")
	run = w.hub.Deploy("ada", "production")
	w.call.Inputs = nil
	w.call.Trigger = map[string]any{"repository": standin.Repository, "run": float64(run), "environment": "production"}
	return w, run
}

func TestDeploymentIsApproved(t *testing.T) {
	t.Parallel()
	w, run := newDeploymentWorld(t)
	long := strings.Repeat("ä", 2000)
	if out := w.do("github_deployment", map[string]any{"state": "waiting", "comment": long}); out["waited"] != true {
		t.Errorf("got %v", out)
	}
	if state, reports := w.hub.Deployment(run); state != "" || len(reports) != 1 {
		t.Errorf("it is %q, with %d reports", state, len(reports))
	}
	// The response to the first request is lost.
	w.hub.HangUp("POST /repos/octo/hello/actions/runs")
	w.mustFail("github_deployment", map[string]any{"state": "approved", "comment": "Two people agreed."}, false, "cannot be reached")
	out := w.do("github_deployment", map[string]any{"state": "approved", "comment": "Two people agreed."})
	if out["waited"] != false || out["environment"] != "production" || out["run"] != int(run) {
		t.Errorf("got %v", out)
	}
	if state, reports := w.hub.Deployment(run); state != "approved" || len(reports) != 2 || reports[1] != "Two people agreed." {
		t.Errorf("it is %q, with %q", state, reports[1:])
	}
}

func TestDeploymentIsRejected(t *testing.T) {
	t.Parallel()
	w, run := newDeploymentWorld(t)
	w.do("github_deployment", map[string]any{"state": "rejected"})
	if state, reports := w.hub.Deployment(run); state != "rejected" || reports[0] == "" {
		t.Errorf("it is %q, with %q", state, reports)
	}
}

func TestDeploymentThatCannotBeDecided(t *testing.T) {
	t.Parallel()
	w, run := newDeploymentWorld(t)
	for range 10 {
		w.do("github_deployment", map[string]any{"state": "waiting"})
	}
	w.mustFail("github_deployment", map[string]any{"state": "waiting"}, true, "Too many status reports")
	if out := w.do("github_deployment", map[string]any{"state": "approved", "environment": "staging"}); out["waited"] != false {
		t.Errorf("an environment that does not wait: %v", out)
	}
	w.mustFail("github_deployment", map[string]any{"state": "approved", "repo": "evil/other"}, true, "may not work on evil/other")
	trigger := w.call.Trigger
	w.call.Trigger = map[string]any{"type": "manual"}
	w.mustFail("github_deployment", map[string]any{"state": "approved"}, true, "which deployment is meant", "trigger deployment")
	w.call.Trigger = trigger
	w.hub.Grant("deployments", "read")
	w.mustFail("github_deployment", map[string]any{"state": "approved"}, true, "403", "Deployments: read and write")
	w.settings = w.hub.Settings()
	w.mustFail("github_deployment", map[string]any{"state": "approved"}, true, "only a GitHub App")
	if state, _ := w.hub.Deployment(run); state != "" {
		t.Errorf("it is %q", state)
	}
}

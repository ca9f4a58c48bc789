package github

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
	"github.com/fermata-hq/fermata/internal/notice"
)

// deployment is the deployment that waits, as a webhook describes it.
type deployment struct {
	ID        int64     `json:"id"`
	Ref       string    `json:"ref"`
	SHA       string    `json:"sha"`
	Creator   Account   `json:"creator"`
	CreatedAt time.Time `json:"created_at"`
}

// callback matches the address at which GitHub receives the decision. Only the id of the run is read from it, because
// the rest is known.
var callback = lazyregexp.New(`/actions/runs/([0-9]{1,18})/deployment_protection_rule$`)

// actionsRun returns the id of the run of GitHub Actions that waits, or 0 if the event names none.
func (e *event) actionsRun() int64 {
	m := callback().FindStringSubmatch(e.CallbackURL)
	if m == nil {
		return 0
	}
	id, _ := strconv.ParseInt(m[1], 10, 64)
	return id
}

// handleDeployment processes the webhook of a job that waits to deploy because the App protects the environment.
func (c *Channel) handleDeployment(ctx context.Context, hear notice.InboundHandler, id string, e *event) (int, string) {
	if ignored := c.deploymentIgnoreReason(e); ignored != "" {
		return http.StatusOK, "ignored: " + ignored
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), webhookTime)
	defer cancel()
	repository, _ := c.settings.spellRepository(e.Repository.FullName)
	run := e.actionsRun()
	_, err := hear(ctx, &notice.Inbound{ID: fmt.Sprintf("deployment/%d", e.Deployment.ID), At: e.Deployment.CreatedAt, RemoteEvent: &notice.RemoteEvent{
		Type: fermata.EventDeploymentRequested, By: e.deployer().identity(),
		Data: map[string]any{
			"repository": repository, "environment": e.Environment, "ref": e.Deployment.Ref, "sha": e.Deployment.SHA, "run": run,
			"deployment": e.Deployment.ID, "event": e.Event, "actor": e.deployer().Login, "url": e.runURL(run),
		},
	}})
	return c.finishDelivery(ctx, id, err, "deployment", e.Deployment.ID)
}

// deployer returns the person who started the deployment. If a program sent the event for a person, it returns the
// creator of the deployment.
func (e *event) deployer() Account {
	if e.Sender.Type != "User" && e.Deployment.Creator.ID > 0 {
		return e.Deployment.Creator
	}
	return e.Sender
}

// runURL returns the page of a run of Actions.
func (e *event) runURL(run int64) string {
	if !strings.HasPrefix(e.Repository.HTMLURL, "https://") {
		return ""
	}
	return fmt.Sprintf("%s/actions/runs/%d", e.Repository.HTMLURL, run)
}

// deploymentIgnoreReason returns why the channel ignores an event, or "" if the event is a new request to deploy.
func (c *Channel) deploymentIgnoreReason(e *event) string {
	_, _, named := cutRepository(e.Repository.FullName)
	switch {
	case c.settings.AppID == 0:
		return "only an App protects environments"
	case e.Action != "requested":
		return "of deployments, only requests are heard"
	case e.Deployment.ID <= 0 || e.Environment == "" || e.actionsRun() <= 0 || e.Sender.ID <= 0 || !named:
		return "it names no deployment, no environment, no run or nobody who began it"
	}
	return c.placeIgnoreReason(e, "the deployment", e.Deployment.CreatedAt)
}

// These are the states that a review gives to a deployment.
const (
	DeploymentApproved = "approved"
	DeploymentRejected = "rejected"
)

// longestReport is GitHub's limit for the comment in a deployment review, in characters.
const longestReport = 1024

// ReviewDeployment tells a run of Actions whether it may deploy to an environment. Without a state, it only reports
// progress. waited reports whether the run was waiting. GitHub accepts at most ten reports without a state for a run.
func (c *Client) ReviewDeployment(ctx context.Context, at Place, run int64, environment, state, comment string) (waited bool, err error) {
	body := map[string]string{"environment_name": environment, "comment": fermata.Truncate(comment, longestReport)}
	if state != "" {
		body["state"] = state
	}
	about := fmt.Sprintf("the deployment of %s to %s", at.Repository(), environment)
	path := fmt.Sprintf("repos/%s/actions/runs/%d/", at.Repository(), run)
	_, err = c.do(ctx, "review "+about, http.MethodPost, path+"deployment_protection_rule", body, nil)
	if status := StatusOf(err); status != http.StatusUnprocessableEntity && status != http.StatusNotFound {
		return err == nil, err
	}
	// If an earlier decision was accepted but its response was lost, the run does not wait.
	var pending []struct {
		Environment struct {
			Name string `json:"name"`
		} `json:"environment"`
	}
	if _, other := c.do(ctx, "read what "+about+" waits for", http.MethodGet, path+"pending_deployments", nil, &pending); other != nil {
		return false, err
	}
	for _, one := range pending {
		if strings.EqualFold(one.Environment.Name, environment) {
			return false, err
		}
	}
	return false, nil
}

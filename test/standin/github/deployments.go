package github

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// deployment is a job of Actions that waits to deploy to an environment that the App protects.
type deployment struct {
	id, run     int64
	environment string
	// state is empty while the deployment waits, and then approved or rejected.
	state   string
	reports []string
}

// firstRun is larger than a 32-bit integer, like the current ids of Actions runs.
const firstRun = 17_000_000_000

// mostReports is how many reports without a decision GitHub accepts.
const mostReports = 10

func (s *Server) deploymentRoutes(handle func(string, func(*call) (int, any))) {
	const run = "/repos/{owner}/{repo}/actions/runs/{run}"
	handle("POST "+run+"/deployment_protection_rule", s.postDeploymentReview)
	handle("GET "+run+"/pending_deployments", s.getPendingDeployments)
}

// Deploy makes a run of Actions, started by the account, wait to deploy to an environment. It returns the id of the
// run.
func (s *Server) Deploy(login, environment string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID++
	d := &deployment{id: firstRun + s.lastID, run: firstRun - 1 + s.lastID, environment: environment}
	s.deployments = append(s.deployments, d)
	by, now := s.ensureUser(login, "User"), s.now().UTC().Truncate(time.Second).Format(time.RFC3339)
	s.sendEvent("deployment_protection_rule", map[string]any{
		"action": "requested", "environment": environment, "event": "push", "sender": by, "pull_requests": []any{},
		"deployment_callback_url": fmt.Sprintf("%s/repos/%s/actions/runs/%d/deployment_protection_rule", s.URL, Repository, d.run),
		"deployment": map[string]any{
			"id": d.id, "ref": Base, "sha": s.code.head(Base), "task": "deploy", "environment": environment, "creator": by, "created_at": now, "updated_at": now,
		},
	})
	return d.run
}

// Deployment returns the decision on the deployment of a run, and all the reports. state is empty while the deployment
// waits.
func (s *Server) Deployment(run int64) (state string, reports []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.deployments {
		if d.run == run {
			return d.state, slices.Clone(d.reports)
		}
	}
	return "", nil
}

// findWaiting finds the waiting deployment of a run, in the given environment or, if that is empty, in any.
func (s *Server) findWaiting(c *call, environment string) *deployment {
	for _, d := range s.deployments {
		if strconv.FormatInt(d.run, 10) == c.PathValue("run") && d.state == "" && (environment == "" || d.environment == environment) {
			return d
		}
	}
	return nil
}

func (s *Server) postDeploymentReview(c *call) (int, any) {
	if !s.isKnownRepository(c) {
		return http.StatusNotFound, message("Not Found")
	}
	if !c.by.app || !s.hasPermission(c, "deployments", "write") {
		return s.deny(c)
	}
	var sent struct {
		Environment string  `json:"environment_name"`
		State       *string `json:"state"`
		Comment     string  `json:"comment"`
	}
	_ = json.NewDecoder(c.Body).Decode(&sent)
	d := s.findWaiting(c, sent.Environment)
	refuse := func(text string) (int, any) {
		return http.StatusUnprocessableEntity, map[string]any{"message": text}
	}
	switch {
	case d == nil:
		return refuse("No pending deployment requests to approve or reject")
	case utf8.RuneCountInString(sent.Comment) > 1024 || sent.Comment == "":
		return refuse("Comment is too long or missing")
	case sent.State == nil && len(d.reports) == mostReports:
		return refuse("Too many status reports")
	case sent.State != nil && *sent.State != "approved" && *sent.State != "rejected":
		return refuse("State is not included in the list")
	}
	d.reports = append(d.reports, sent.Comment)
	if sent.State != nil {
		d.state = *sent.State
	}
	return http.StatusNoContent, nil
}

func (s *Server) getPendingDeployments(c *call) (int, any) {
	if !s.isKnownRepository(c) {
		return http.StatusNotFound, message("Not Found")
	}
	if !s.hasPermission(c, "actions", "read") {
		return s.deny(c)
	}
	list := []map[string]any{}
	if d := s.findWaiting(c, ""); d != nil {
		list = append(list, map[string]any{"environment": map[string]any{"id": 1, "name": d.environment}, "current_user_can_approve": false, "reviewers": []any{}})
	}
	return http.StatusOK, list
}

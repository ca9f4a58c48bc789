package github_test

import (
	"strings"
	"testing"
)

func TestReview(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.hub.OpenPull()
	input := map[string]any{
		"pull": pull, "verdict": "request_changes", "body": "The gate still sticks.",
		"remarks": []any{map[string]any{"path": "gate.go", "line": 12, "start_line": 10, "body": "Oil it *here*."}},
	}
	// The response to the first request is lost.
	w.hub.HangUp("POST /repos/octo/hello/pulls")
	w.mustFail("github_review", input, false, "cannot be reached")
	out := w.do("github_review", input)
	if out["created"] != false || out["state"] != "changes_requested" {
		t.Errorf("got %v", out)
	}
	reviews, remarks := w.hub.ReviewBodies(pull)
	if len(reviews) != 1 || !strings.HasPrefix(reviews[0], "The gate still sticks.") || strings.Contains(reviews[0], w.call.Key) {
		t.Errorf("the reviews are %q", reviews)
	}
	if len(remarks) != 1 || remarks[0] != "gate.go:12: Oil it *here*." {
		t.Errorf("the remarks are %q", remarks)
	}
	w.call.Key = "task_1/step/2"
	if out := w.do("github_review", map[string]any{"pull": pull, "verdict": "approve"}); out["created"] != true || out["state"] != "approved" {
		t.Errorf("got %v", out)
	}
}

// TestReviewOfTheRunsPull reviews the pull request that started the run.
func TestReviewOfTheRunsPull(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.hub.OpenPull()
	w.call.Inputs, w.call.Trigger = nil, map[string]any{"issue": pull, "repository": "octo/hello"}
	if out := w.do("github_review", map[string]any{"body": "Seen."}); out["state"] != "commented" {
		t.Errorf("got %v", out)
	}
}

func TestReviewThatGitHubRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pull := w.hub.OpenPull()
	w.mustFail("github_review", map[string]any{"pull": pull, "verdict": "comment"}, true, "needs a body")
	w.mustFail("github_review", map[string]any{"pull": pull, "body": "x", "remarks": []any{map[string]any{"path": "gate.go", "line": 999, "body": "x"}}}, true,
		"Line could not be resolved")
	w.mustFail("github_review", map[string]any{"body": "x"}, true, "404")
	w.hub.Push("fix")
	own := w.do("github_create_pr", map[string]any{"head": "fix"})["number"]
	w.mustFail("github_review", map[string]any{"pull": own, "verdict": "approve"}, true, "Can not approve your own pull request")
	w.settings = w.hub.AppSettings()
	w.hub.Grant("pull_requests", "read")
	w.mustFail("github_review", map[string]any{"pull": pull, "body": "x"}, true, "403", "Pull requests: read and write")
}

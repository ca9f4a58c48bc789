package github_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	standin "github.com/fermata-hq/fermata/test/standin/github"
)

func TestReadIssue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hub.WriteIssue(standin.Issue, "The gate sticks", "Since *Monday*.")
	w.hub.AddUser("ada", "write")
	for i := range 3 {
		w.hub.Comment("ada", standin.Issue, fmt.Sprint("comment ", i))
	}
	out := w.do("github_read_issue", nil)
	if out["title"] != "The gate sticks" || out["body"] != "Since *Monday*." || out["number"] != standin.Issue || out["state"] != "open" {
		t.Errorf("got %v", out)
	}
	if len(out["comments"].([]any)) != 0 {
		t.Errorf("comments were read though nobody asked: %v", out["comments"])
	}
	latest := w.do("github_read_issue", map[string]any{"issue": "octo/hello#7", "comments": 2})["comments"].([]any)
	if len(latest) != 2 || latest[1].(map[string]any)["body"] != "comment 2" || latest[0].(map[string]any)["author"] != "ada" {
		t.Errorf("got %v", latest)
	}
}

func TestWhichIssueIsMeant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, n := range []int{11, 12} {
		w.hub.AddIssue(n)
	}
	tests := []struct {
		name                   string
		input, inputs, trigger map[string]any
		number                 int
		words                  string
	}{
		{"the step's", map[string]any{"issue": 12}, map[string]any{"issue": 7}, map[string]any{"issue": 11}, 12, ""},
		{"the run's input", nil, map[string]any{"issue": "7"}, map[string]any{"issue": 11}, 7, ""},
		{"the event's", nil, nil, map[string]any{"issue": 11, "repository": standin.Repository}, 11, ""},
		{"none", nil, nil, map[string]any{"type": "manual"}, 0, "which issue"},
		{"no number", map[string]any{"issue": "soon"}, nil, nil, 0, "names no issue"},
		{"a repository that the channel does not know", map[string]any{"repo": "evil/other", "issue": 1}, nil, nil, 0, "may not work on evil/other"},
		{"the same, by the issue", map[string]any{"issue": "https://github.com/evil/other/issues/1"}, nil, nil, 0, "may not work on evil/other"},
		{"an issue that is not there", map[string]any{"issue": 99}, nil, nil, 0, "404"},
	}
	for _, tt := range tests {
		w.call.Inputs, w.call.Trigger = tt.inputs, tt.trigger
		if tt.words != "" {
			w.mustFail("github_read_issue", tt.input, true, tt.words)
			continue
		}
		if out := w.do("github_read_issue", tt.input); out["number"] != tt.number {
			t.Errorf("%s: read %v, want %d", tt.name, out["number"], tt.number)
		}
	}
}

func TestCommentIsWrittenOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// A mark in the text of the comment does not count.
	body := "Done: see #3.\n\n<!-- fermata question=q_1 state=open -->"
	out := w.do("github_comment", map[string]any{"body": body})
	again := w.do("github_comment", map[string]any{"body": body + " with other words"})
	if out["created"] != true || again["created"] != false || out["id"] != again["id"] {
		t.Errorf("got %v, then %v", out, again)
	}
	bodies := w.hub.Bodies(standin.Issue)
	if len(bodies) != 1 || !strings.HasPrefix(bodies[0], body) || strings.Contains(bodies[0], w.call.Key) {
		t.Errorf("on the issue stands %q", bodies)
	}
	w.call.Key = "task_1/step/2"
	w.do("github_comment", map[string]any{"body": body})
	if n := len(w.hub.Bodies(standin.Issue)); n != 2 {
		t.Errorf("another occurrence left %d comments", n)
	}
}

// GitHub writes the comment, and its response is lost.
func TestCommentWhoseAnswerWasLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hub.HangUp("POST /repos/octo/hello/issues/7/comments")
	w.mustFail("github_comment", map[string]any{"body": "once"}, false, "cannot be reached")
	if out := w.do("github_comment", map[string]any{"body": "once"}); out["created"] != false {
		t.Errorf("got %v", out)
	}
	if n := len(w.hub.Bodies(standin.Issue)); n != 1 {
		t.Errorf("there are %d comments", n)
	}
}

// A mark that a person copied into a comment does not prevent the comment of
// the tool.
func TestMarkOfAnotherDoesNotCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("github_comment", map[string]any{"body": "first"})
	copied := w.hub.Bodies(standin.Issue)[0]
	w.hub.AddUser("eve", "write")
	w.hub.AddIssue(8)
	w.hub.Comment("eve", 8, copied)
	if out := w.do("github_comment", map[string]any{"issue": 8, "body": "first"}); out["created"] != true {
		t.Errorf("got %v", out)
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 2 {
		if out := w.do("github_add_labels", map[string]any{"labels": []any{"auto-fix", "needs care"}}); len(out["labels"].([]any)) != 2 {
			t.Errorf("got %v", out)
		}
	}
	for range 2 {
		out := w.do("github_remove_labels", map[string]any{"labels": []any{"Needs Care", "never set"}})
		if !has(out["labels"], "auto-fix") || len(out["labels"].([]any)) != 1 {
			t.Errorf("got %v", out)
		}
	}
	if out := w.do("github_add_labels", map[string]any{"labels": []any{}}); !has(out["labels"], "auto-fix") {
		t.Errorf("got %v", out)
	}
	w.mustFail("github_remove_labels", map[string]any{"issue": 99, "labels": []any{"a"}}, true, "404")
}

func TestAssign(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hub.AddUser("ada", "write")
	out := w.do("github_assign", map[string]any{"assignees": []any{"ada", "stranger"}})
	if !has(out["assignees"], "ada") || !has(out["left_out"], "stranger") {
		t.Errorf("got %v", out)
	}
}

func TestUpdateIssue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hub.AddUser("ada", "write")
	w.do("github_add_labels", map[string]any{"labels": []any{"auto-fix"}})
	input := map[string]any{
		"addLabels": []any{"auto-fix-skip"}, "removeLabels": []any{"auto-fix"}, "assignees": []any{"ada"},
		"addComment": "Skipped: nobody answered in time.", "state": "closed", "stateReason": "not_planned",
	}
	for range 2 {
		if out := w.do("update_github_issue", input); len(out["changed"].([]any)) != 5 {
			t.Errorf("got %v", out)
		}
	}
	issue := w.do("github_read_issue", map[string]any{"comments": 10})
	if issue["state"] != "closed" || issue["state_reason"] != "not_planned" || !has(issue["labels"], "auto-fix-skip") ||
		has(issue["labels"], "auto-fix") || !has(issue["assignees"], "ada") || len(issue["comments"].([]any)) != 1 {
		t.Errorf("got %v", issue)
	}
	w.mustFail("update_github_issue", map[string]any{"stateReason": "completed"}, true, "only with state")
}

func TestCreateBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.hub.BranchAt(standin.Base)
	out := w.do("github_create_branch", map[string]any{"name": "fix/gate"})
	if out["created"] != true || out["sha"] != first || w.hub.BranchAt("fix/gate") != first {
		t.Errorf("got %v", out)
	}
	moved := w.hub.Push("fix/gate")
	if again := w.do("github_create_branch", map[string]any{"name": "fix/gate"}); again["created"] != false || again["sha"] != moved {
		t.Errorf("got %v, want the branch as it is", again)
	}
	if other := w.do("github_create_branch", map[string]any{"name": "other", "from": "fix/gate"}); other["sha"] != moved {
		t.Errorf("got %v, want it where the other branch stands", other)
	}
	w.mustFail("github_create_branch", map[string]any{"name": "x", "from": "nowhere"}, true, "no branch, tag or commit nowhere")
	w.mustFail("github_create_branch", map[string]any{"name": "a b"}, true, "not well formed")
}

func TestCreatePullByDefaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hub.WriteIssue(standin.Issue, "The gate sticks", "")
	w.mustFail("github_create_pr", nil, true, "no branch fermata/task_1", "push: true")
	w.hub.Push("fermata/task_1")
	w.hub.Requests()
	out := w.do("github_create_pr", nil)
	if out["created"] != true || out["head"] != "fermata/task_1" || out["base"] != standin.Base || out["number"] != 8 {
		t.Errorf("got %v", out)
	}
	pull := w.do("github_read_issue", map[string]any{"issue": 8})
	if pull["is_pull_request"] != true {
		t.Errorf("got %v", pull)
	}
	if body := w.hub.PullBodies()[8]; !strings.HasPrefix(body, "Closes octo/hello#7.\n\nMade by the workflow `autofix`, run `task_1`.") {
		t.Errorf("the text is %q", body)
	}
	if again := w.do("github_create_pr", nil); again["created"] != false || again["number"] != 8 {
		t.Errorf("got %v", again)
	}
	if n := w.count("POST /repos/octo/hello/pulls"); n != 1 {
		t.Errorf("it was opened %d times", n)
	}
}

func TestCreatePullAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hub.Push("fix")
	input := map[string]any{"head": "fix", "title": "Fix the gate", "body": "It does not stick.", "draft": true, "labels": []any{"auto-fix"}}
	// The response to the first request is lost.
	w.hub.HangUp("POST /repos/octo/hello/pulls")
	w.mustFail("github_create_pr", input, false, "cannot be reached")
	out := w.do("github_create_pr", input)
	if out["created"] != false || out["number"] != 8 || !has(w.do("github_read_issue", map[string]any{"issue": 8})["labels"], "auto-fix") {
		t.Errorf("got %v", out)
	}
	// After a person closes the pull request, the same step does not open
	// another one. A later step does.
	w.hub.ClosePull(8)
	if out := w.do("github_create_pr", input); out["number"] != 8 || out["state"] != "closed" {
		t.Errorf("got %v", out)
	}
	w.call.Key = "task_1/step/2"
	if out := w.do("github_create_pr", input); out["number"] != 9 || out["created"] != true {
		t.Errorf("got %v", out)
	}
}

func TestCreatePullThatGitHubRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("github_create_branch", map[string]any{"name": "same"})
	w.mustFail("github_create_pr", map[string]any{"head": "same"}, true, "No commits between main and same")
	w.hub.Push("fix")
	w.mustFail("github_create_pr", map[string]any{"head": "fix", "base": "nowhere"}, true, "base is invalid")
}

func TestChecks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	commit := w.hub.Push("fermata/task_1")
	state := func(want string) {
		t.Helper()
		if out := w.do("github_checks", nil); out["state"] != want || out["sha"] != commit {
			t.Errorf("got %v, want %s", out, want)
		}
	}
	state("none")
	w.mustFail("github_checks", map[string]any{"expect": "success"}, false, "no checks yet")
	w.hub.SetCheckRun(commit, "build", "in_progress", "")
	state("pending")
	w.mustFail("github_checks", map[string]any{"expect": "success"}, false, "not done yet: [build]", "retry")
	w.hub.SetCheckRun(commit, "build", "completed", "success")
	w.hub.SetCheckRun(commit, "docs", "completed", "skipped")
	w.hub.AddCommitStatus(commit, "ci/old", "error")
	state("failure")
	w.mustFail("github_checks", map[string]any{"expect": "success"}, true, "[ci/old]")
	w.hub.AddCommitStatus(commit, "ci/old", "success")
	state("success")
	pull := w.do("github_create_pr", nil)["number"]
	if out := w.do("github_checks", map[string]any{"pull": pull, "expect": "success"}); out["state"] != "success" || len(out["checks"].([]any)) != 3 {
		t.Errorf("got %v", out)
	}
	w.mustFail("github_checks", map[string]any{"ref": "nowhere"}, true, "no branch, tag or commit nowhere")
}

func TestNoChannel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settings = nil
	w.mustFail("github_comment", map[string]any{"body": "a"}, true, "no GitHub channel", "fermata channel add github github")
}

func TestSettingsThatChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settings["token"] = "expired"
	w.mustFail("github_read_issue", nil, true, "401", "make a new one")
	w.settings = w.hub.Settings()
	w.do("github_read_issue", nil)
}

func TestAppWithoutThePermission(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settings = w.hub.AppSettings()
	w.do("github_comment", map[string]any{"body": "a"})
	w.mustFail("github_create_branch", map[string]any{"name": "x"}, true, "403", "Contents: read and write")
	w.hub.Grant("contents", "write")
	w.do("github_create_branch", map[string]any{"name": "x"})
	w.mustFail("github_checks", map[string]any{"ref": "x"}, true, "Checks: read")
}

func TestGitHubAsksToWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hub.SetLimits(5000, soon(), 0, 90*time.Second)
	w.mustFail("github_comment", map[string]any{"body": "a"}, false, "1m30s")
}

func TestGitHubIsBroken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hub.Fail("GET /repos/octo/hello/issues/7", 502)
	w.mustFail("github_read_issue", nil, false, "502")
}

package workflows

import (
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
	standin "github.com/fermata-hq/fermata/test/standin/github"
)

// The commands of the README: a question is asked about each unassigned issue, and its answer decides about that issue.
func TestIssueSweep(t *testing.T) {
	t.Parallel()
	w, hub := newWorld(t, "issue-sweep", process.SQLite(t)), standin.New()
	t.Cleanup(hub.Close)
	for number, title := range map[int]string{21: "The gate sticks", 22: "The door is red", 23: "The roof leaks", 24: "The bell is loud"} {
		hub.AddIssue(number)
		hub.WriteIssue(number, title, "")
	}
	hub.AddUser("ada", "write")
	hub.Label("ada", 24, "kept")
	hub.CloseIssue(standin.Issue)
	w.edit("README.md", "token=env:GITHUB_TOKEN", "token="+standin.Token+" poll=1s api_url="+hub.API())
	w.script("REPOSITORY=" + standin.Repository + "\n" + w.readme())
	answers := map[string]string{"The gate sticks": "fix", "The door is red": "close", "The roof leaks": "keep"}
	var open []*fermata.Question
	patience.Await(t, "every issue is asked about", func() bool {
		var err error
		open, _, err = w.admin.Questions(t.Context(), client.QuestionQuery{Status: fermata.Pending})
		w.OK(err)
		return len(open) == len(answers)
	})
	patience.Await(t, "a question stands on its issue", func() bool {
		return slices.ContainsFunc(hub.Bodies(21), func(body string) bool { return strings.Contains(body, "The gate sticks: what becomes of it?") })
	})
	for _, q := range open {
		for title, answer := range answers {
			if strings.Contains(q.Title, title) {
				w.script("fermata respond " + q.ID + " " + answer)
			}
		}
	}
	w.run("issue-sweep", fermata.TaskDone)
	if got := hub.Labels(21); !slices.Contains(got, "auto-fix") {
		t.Errorf("the first issue has the labels %q", got)
	}
	if got := hub.Labels(23); !slices.Contains(got, "kept") {
		t.Errorf("the third issue has the labels %q", got)
	}
	if hub.IsOpen(22) || !hub.IsOpen(21) || !hub.IsOpen(23) {
		t.Error("not the second issue alone was closed")
	}
}

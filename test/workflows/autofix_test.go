package workflows

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
	standin "github.com/fermata-hq/fermata/test/standin/github"
)

// issue is the number of the issue that the workflow fixes.
const issue = 12

// hub is a stand-in for GitHub with a git repository, and a clone of the repository.
type hub struct {
	*standin.Server
	origin, clone string
}

func newHub(w *world) *hub {
	w.Helper()
	h := &hub{Server: standin.New(), origin: filepath.Join(w.home, "origin.git"), clone: filepath.Join(w.home, "clone")}
	w.Cleanup(h.Close)
	w.git(w.home, "init", "-q", "--bare", "-b", standin.Base, h.origin)
	w.git(w.home, "clone", "-q", h.origin, h.clone)
	w.OK(os.WriteFile(filepath.Join(h.clone, "Makefile"), []byte("test:\n\t@test -e model.txt -o -e template.txt\n"), 0o600))
	w.git(h.clone, "checkout", "-q", "-B", standin.Base)
	w.git(h.clone, "add", ".")
	w.git(h.clone, "commit", "-qm", "The shop")
	w.git(h.clone, "push", "-q", "origin", standin.Base)
	h.SetOrigin(h.origin)
	h.AddIssue(issue)
	h.WriteIssue(issue, "Names with quotes break the page", "See the title.")
	h.SetInbound(w.server.URL)
	return h
}

// begin runs the commands of the README, with an agent that follows a script.
func (h *hub) begin(w *world) {
	w.Helper()
	agent, err := filepath.Abs("testdata/agent.sh")
	w.OK(err)
	w.edit("tools.yaml", "runner: claude", "runner: command")
	w.edit("README.md", "token=env:GITHUB_TOKEN", "token="+standin.Token+" poll=1s webhook_secret='"+standin.Secret+"' api_url="+h.API(),
		"--runner claude --allow-task-commands &", "--runner command --allow-task-commands -- "+agent+" &")
	w.script(fmt.Sprintf("REPOSITORY=%s CLONE=%s GITHUB_ID=%d\n", standin.Repository, h.clone, h.AddUser("ada", "write")) + w.readme())
}

// label adds the label to the issue, and delivers the webhook a second time.
func (h *hub) label(w *world) {
	w.Helper()
	h.Label("ada", issue, "auto-fix")
	at := slices.IndexFunc(h.Deliveries(), func(d *standin.Delivery) bool { return d.Event == "issues" })
	if d := h.Redeliver(h.Deliveries()[at]); d.Status != 200 {
		w.Fatalf("the webhook is answered %d %s", d.Status, d.Response)
	}
}

// asked waits for the question on the issue.
func (h *hub) asked(w *world) {
	w.Helper()
	patience.Await(w, "the question stands on the issue", func() bool {
		return slices.ContainsFunc(h.Bodies(issue), func(body string) bool {
			return strings.Contains(body, "Where is the text to be escaped?") && strings.Contains(body, "in the model")
		})
	})
}

// A label, a question on the issue, an answer there, and a pull request.
func TestAutofix(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "autofix", process.SQLite(t))
	h := newHub(w)
	h.begin(w)
	h.label(w)
	h.asked(w)
	run := w.run("autofix", fermata.TaskAwaitingInput)
	if run.Trigger != fermata.TriggerLabel || run.Title != "autofix for octo/hello#12" {
		t.Errorf("%s was started by %s", run.Title, run.Trigger)
	}
	h.Comment("ada", issue, "2")
	run = w.run("autofix", fermata.TaskDone)
	if fix := w.step(run, "apply_fix"); string(fix.Input) != `{"approach":"in the model"}` {
		t.Errorf("the agent was told %s", fix.Input)
	}
	branch := "fermata/" + run.ID
	if got := w.git(h.origin, "show", branch+":model.txt"); got != "escaped" {
		t.Errorf("the branch has %q", got)
	}
	pulls := h.PullBodies()
	if len(pulls) != 1 || !strings.Contains(fmt.Sprint(pulls), "Closes octo/hello#12.") {
		t.Errorf("the pull requests are %v", pulls)
	}
	patience.Await(t, "the comment says how it ended", func() bool {
		return slices.ContainsFunc(h.Bodies(issue), func(body string) bool { return strings.Contains(body, "**Closed:**") })
	})
	events, _, err := w.admin.Events(t.Context(), client.EventQuery{Types: []fermata.EventType{fermata.EventLabelAdded}})
	w.OK(err)
	if len(events) != 1 {
		t.Errorf("%d labels are on record", len(events))
	}
}

// If nobody answers, a comment on the issue reports that, and nothing is changed.
func TestAutofixNobodyAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "autofix", process.SQLite(t))
	w.edit("autofix.yaml", "timeoutHours: 24", "timeout: 2s")
	h := newHub(w)
	h.begin(w)
	h.label(w)
	run := w.run("autofix", fermata.TaskSkipped)
	if got := h.Labels(issue); !slices.Contains(got, "auto-fix-skip") {
		t.Errorf("the issue has the labels %q", got)
	}
	if !slices.ContainsFunc(h.Bodies(issue), func(body string) bool { return strings.HasPrefix(body, "Skipped: nobody answered in time.") }) {
		t.Errorf("on the issue stands %q", h.Bodies(issue))
	}
	if run.Reason != fermata.ReasonQuestionTimedOut || len(h.PullBodies()) != 0 {
		t.Errorf("it ended with %s and %d pull requests", run.Reason, len(h.PullBodies()))
	}
}

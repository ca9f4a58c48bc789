package github_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/github"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/notice"
	standin "github.com/fermata-hq/fermata/test/standin/github"
)

var (
	_ delivery.Channel  = (*github.Channel)(nil)
	_ delivery.Receiver = (*github.Channel)(nil)
	_ delivery.Listener = (*github.Channel)(nil)
)

func TestQuestionIsAskedOnceAndClosed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]map[string]any{"token": nil, "App": app} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, change)
			n := w.question(firstID, choice())
			sent := w.send(n)
			w.send(n) // a retry
			if got := w.comments(); len(got) != 1 || !strings.Contains(got[0], "- **B** · TOML") || got[0] != sent.Content {
				t.Fatalf("on the issue stand %q", got)
			}
			if labels := w.hub.Labels(standin.Issue); !slices.Equal(labels, []string{"waiting for an answer"}) {
				t.Errorf("labels %q while it waits", labels)
			}
			sent, err := w.channel.Update(t.Context(), closedNotice(n, fermata.Answered, "answered by Ada: TOML"), sent)
			if err != nil {
				t.Fatal(err)
			}
			got := w.comments()
			if len(got) != 1 || !strings.Contains(got[0], "**Closed:** answered by Ada: TOML.") || strings.Contains(got[0], "To answer") || got[0] != sent.Content {
				t.Errorf("after the answer stand %q", got)
			}
			if labels := w.hub.Labels(standin.Issue); len(labels) != 0 {
				t.Errorf("labels %q after the answer", labels)
			}
		})
	}
}

func TestLostAnswerOfGitHubMakesNoSecondComment(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	n := w.question(firstID, choice())
	w.hub.HangUp("POST /repos/octo/hello/issues/7/comments")
	if _, err := w.channel.Send(t.Context(), n); err == nil {
		t.Fatal("an answer that never came counts as sent")
	}
	sent, err := w.open(nil).Send(t.Context(), n) // after a restart
	if err != nil {
		t.Fatal(err)
	}
	if got := w.comments(); len(got) != 1 || got[0] != sent.Content {
		t.Errorf("on the issue stand %q", got)
	}
}

// Two people are asked on one issue, and the question is there once.
func TestQuestionStandsOnceOnAnIssue(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	n := w.question(firstID, choice())
	w.send(n)
	other := *n
	other.Delivery = "dlv_other"
	w.send(&other)
	if got := w.comments(); len(got) != 1 {
		t.Fatalf("%d comments for one question", len(got))
	}
	other.Delivery, other.Purpose = "dlv_reminder", notice.Reminder
	w.send(&other)
	w.send(&other)
	if got := w.comments(); len(got) != 2 || !strings.Contains(got[1], "Reminder: question") {
		t.Errorf("after a reminder stand %q", got)
	}
}

func TestPeopleAreMentionedAndAssigned(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	n := w.question(firstID, choice())
	ada, _ := w.hub.AddPerson("ada")
	grace, _ := w.hub.AddPerson("grace")
	n.To.People = []string{ada, grace, "99999", "nobody"}
	sent := w.send(n)
	if got := w.comments()[0]; !strings.Contains(got, "\n\nFor @ada, @grace.\n\n") {
		t.Errorf("they are not mentioned: %s", got)
	}
	if got := w.hub.Assignees(standin.Issue); !slices.Equal(got, []string{"ada", "grace"}) {
		t.Errorf("assigned are %q", got)
	}
	if _, err := w.channel.Update(t.Context(), closedNotice(n, fermata.Cancelled, "cancelled by the agent"), sent); err != nil {
		t.Fatal(err)
	}
	if got := w.hub.Assignees(standin.Issue); len(got) != 0 {
		t.Errorf("still assigned are %q", got)
	}
}

func TestTimeoutIsToldOnTheIssue(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]any{"timeout_assignees": []string{"grace"}})
	w.hub.AddUser("grace", "maintain")
	n := w.question(firstID, choice())
	sent := w.send(n)
	over := closedNotice(n, fermata.TimedOut, "timed out: nobody answered")
	for range 2 { // the second time changes nothing
		var err error
		if sent, err = w.channel.Update(t.Context(), over, sent); err != nil {
			t.Fatal(err)
		}
	}
	got := w.comments()
	if len(got) != 2 || !strings.HasPrefix(got[1], "Nobody answered Which format? in time: timed out: nobody answered.") {
		t.Errorf("after the timeout stand %q", got)
	}
	if labels := w.hub.Labels(standin.Issue); !slices.Equal(labels, []string{"nobody answered"}) {
		t.Errorf("labels are %q", labels)
	}
	if people := w.hub.Assignees(standin.Issue); !slices.Equal(people, []string{"grace"}) {
		t.Errorf("assigned are %q", people)
	}
}

func TestLabelStaysWhileAnotherQuestionWaits(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	n, other := w.question(firstID, choice()), w.question(secondID, choice())
	sent := w.send(n)
	w.send(other)
	if _, err := w.channel.Update(t.Context(), closedNotice(n, fermata.Answered, "answered by Ada: json"), sent); err != nil {
		t.Fatal(err)
	}
	if labels := w.hub.Labels(standin.Issue); !slices.Equal(labels, []string{"waiting for an answer"}) {
		t.Errorf("labels are %q although a question waits", labels)
	}
}

func TestDeletedCommentIsNoTrouble(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	n := w.question(firstID, choice())
	sent := w.send(n)
	w.hub.Delete(commentID(t, w, 0))
	if _, err := w.channel.Update(t.Context(), closedNotice(n, fermata.Answered, "answered by Ada: json"), sent); err != nil {
		t.Error(err)
	}
}

// A missing permission to label must not keep a question from people.
func TestMissingRightToLabelKeepsNoQuestionBack(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	w.hub.Permit(standin.Machine, "read")
	n := w.question(firstID, choice())
	sent := w.send(n)
	if _, err := w.channel.Update(t.Context(), closedNotice(n, fermata.TimedOut, "timed out"), sent); err != nil {
		t.Error(err)
	}
}

func TestWhereAQuestionGoes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		target string
		change map[string]any
		issue  int // 0 if the channel refuses for good
	}{
		"the channel's issue":          {issue: 7},
		"the asker's":                  {target: "octo/hello#8", issue: 8},
		"a number":                     {target: "8", issue: 8},
		"a number with its sign":       {target: "#8", issue: 8},
		"an address":                   {target: "https://github.com/octo/hello/pull/8", issue: 8},
		"in other letters":             {target: "Octo/Hello#8", issue: 0}, // GitHub would find it, the stand-in does not
		"another repository":           {target: "evil/public#1"},
		"another repository, escaped":  {target: "octo/hello/../../evil#1"},
		"an issue that is not there":   {target: "octo/hello#99"},
		"nothing":                      {change: map[string]any{"issue": nil}},
		"no number":                    {target: "octo/hello"},
		"a repository that is allowed": {target: "octo/hello#8", change: map[string]any{"repository": "octo/other", "repositories": []string{"octo/hello"}, "issue": nil}, issue: 8},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, test.change)
			w.hub.AddIssue(8)
			n := w.question(firstID, choice())
			n.To.Target = test.target
			_, err := w.channel.Send(t.Context(), n)
			if test.issue == 0 {
				if f := failure(t, err); !f.Final {
					t.Errorf("%v is tried again", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := w.hub.Bodies(test.issue); len(got) != 1 {
				t.Errorf("%d comments on issue %d", len(got), test.issue)
			}
		})
	}
}

func failure(t *testing.T, err error) *notice.SendError {
	t.Helper()
	var f *notice.SendError
	if !errors.As(err, &f) {
		t.Fatalf("%v is no failure", err)
	}
	return f
}

func TestLimitsSayHowLongToWait(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		limit  func(*standin.Server)
		at     time.Duration
		reason fermata.Code
	}{
		"hourly": {func(s *standin.Server) { s.SetLimits(0, time.Now().Add(20*time.Minute), 100, 0) }, 20 * time.Minute, fermata.CodeRateLimited},
		"new content": {func(s *standin.Server) { s.SetLimits(100, time.Now().Add(time.Hour), 0, 90*time.Second) },
			90 * time.Second, fermata.CodeRateLimited},
		"out of order":  {func(s *standin.Server) { s.Fail("POST ", http.StatusBadGateway) }, 0, fermata.CodeUnavailable},
		"token revoked": {func(s *standin.Server) { s.Revoke() }, 0, fermata.CodeUnauthenticated},
		"issue locked":  {func(s *standin.Server) { s.Permit(standin.Machine, "read"); s.LockIssue(standin.Issue) }, 0, fermata.CodeForbidden},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, nil)
			test.limit(w.hub)
			n := w.question(firstID, choice())
			_, err := w.channel.Send(t.Context(), n)
			f := failure(t, err)
			if wait := f.Wait; f.Final || wait < test.at-5*time.Second || wait > test.at+5*time.Second {
				t.Errorf("%v: again after %s, want %s", err, wait, test.at)
			}
			var e *fermata.Error
			if !errors.As(err, &e) || e.Code != test.reason || e.Hint == "" {
				t.Errorf("%#v, want %s with a hint", e, test.reason)
			}
			w.hub.Requests()
			if name != "hourly" && name != "new content" {
				return
			}
			if _, err := w.channel.Send(t.Context(), n); err == nil || len(w.hub.Requests()) != 0 {
				t.Error("GitHub is asked again although it asked to wait")
			}
		})
	}
}

// An owner who takes the old name of a repository must not get its questions.
func TestRepositoryThatMovedIsNotFollowed(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	w.hub.Fail("GET /repos/octo/hello/issues/7/comments", http.StatusMovedPermanently)
	_, err := w.channel.Send(t.Context(), w.question(firstID, choice()))
	if f := failure(t, err); !f.Final || !strings.Contains(f.Error(), "has moved") || len(w.comments()) != 0 {
		t.Errorf("%v, %d comments", err, len(w.comments()))
	}
}

// A token that GitHub revokes early is replaced.
func TestInstallationTokenIsRenewed(t *testing.T) {
	t.Parallel()
	w := newFixture(t, app)
	w.send(w.question(firstID, choice()))
	w.hub.Revoke()
	n := w.question(secondID, choice())
	if _, err := w.channel.Send(t.Context(), n); err == nil {
		t.Fatal("a revoked token works")
	}
	w.send(n)
	if got := w.comments(); len(got) != 2 {
		t.Errorf("%d comments", len(got))
	}
}

func TestOtherMessages(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	w.send(&notice.Notice{Delivery: "dlv_1", Purpose: notice.Test, Title: "Fermata can write here", Body: "This is a test.", At: time.Now()})
	w.send(&notice.Notice{Delivery: "dlv_2", Purpose: notice.Digest, Title: "2 questions wait", At: time.Now(),
		Questions: []*fermata.Question{w.question(firstID, choice()).Question, w.question(secondID, choice()).Question}})
	got := w.comments()
	if len(got) != 2 || !strings.HasPrefix(got[0], "### Fermata can write here\n\n> This is a test.") || strings.Count(got[1], "` · Which format? · risk low\n") != 2 {
		t.Errorf("on the issue stand %q", got)
	}
	voted := w.question(firstID, choice()).Question
	voted.TaskTitle, voted.Project, voted.Risk, voted.Approvals = "Build *it*", "shop", fermata.RiskHigh, &fermata.Quorum{Required: 2}
	w.send(&notice.Notice{Delivery: "dlv_4", Purpose: notice.Digest, Title: "1 question waits", At: time.Now(), Questions: []*fermata.Question{voted}})
	if got := w.comments()[2]; !strings.Contains(got, " · Which format? · `“Build *it*”` · shop · risk high · 0 of 2 approved\n") {
		t.Errorf("the digest does not say what the question belongs to: %q", got)
	}
	_, err := w.channel.Send(t.Context(), &notice.Notice{Delivery: "dlv_3", Purpose: notice.Event, Raw: []byte(`{}`)})
	if !failure(t, err).Final {
		t.Errorf("an event is tried again: %v", err)
	}
}

func commentID(t *testing.T, w *fixture, i int) int64 {
	t.Helper()
	var id int64
	if _, err := fmt.Sscan(w.hub.VisibleMessages("anybody")[i].ID, &id); err != nil {
		t.Fatal(err)
	}
	return id
}
